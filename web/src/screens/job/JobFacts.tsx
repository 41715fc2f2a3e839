import { isUnfinished, type Job } from "../../api";
import { Ago, duration, Fact, Facts, perSecond, Time } from "../../design";
import { GatesNow } from "./GatesNow";

/** How a job goes, in a few words: speed, how much longer, what limits it. */
export function JobFacts({ job }: { job: Job }) {
  return <Facts look="tiles">{isUnfinished(job) ? <Going job={job} /> : <Over job={job} />}</Facts>;
}

function Going({ job }: { job: Job }) {
  return (
    <>
      <Fact name="Rate now">{perSecond(job.rate)}</Fact>
      <Fact name="Time left">{leftOf(job)}</Fact>
      <Fact name="Limited by">{limitOf(job)}</Fact>
      <Fact name="Began">
        <Ago at={job.startedAt ?? job.createdAt} />
      </Fact>
      <GatesNow jobId={job.id} />
    </>
  );
}

function leftOf({ state, eta }: Job): string {
  if (state === "PAUSED") return "nothing moves";
  return eta?.words ?? (state === "INGESTING" ? "still reading" : "nobody can say yet");
}

function limitOf({ state, limitedBy }: Job): string {
  if (state === "PAUSED") return "the pause";
  return limitedBy?.why ?? "nothing: it goes as fast as it can";
}

function Over({ job }: { job: Job }) {
  const took = tookOf(job);
  const worked = job.counts.total - job.counts.cancelled;
  return (
    <>
      <Fact name="Ended">
        <Time at={job.finishedAt} />
      </Fact>
      <Fact name="Took">{took === null ? "–" : duration(took)}</Fact>
      <Fact name="On average">{took ? perSecond(worked / took) : "–"}</Fact>
    </>
  );
}

function tookOf({ startedAt, createdAt, finishedAt }: Job): number | null {
  const from = startedAt ?? createdAt;
  if (!from || !finishedAt) return null;
  return (new Date(finishedAt).getTime() - new Date(from).getTime()) / 1000;
}
