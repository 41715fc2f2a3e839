import { isUnfinished, type Job } from "../../api";
import { Ago, duration, perSecond, Time } from "../../design";
import { Fact } from "./Fact";
import { GatesNow } from "./GatesNow";
import styles from "./JobFacts.module.css";

/** How a job goes, in a few words: speed, how much longer, what limits it. */
export function JobFacts({ job }: { job: Job }) {
  return (
    <dl className={styles.facts}>
      {isUnfinished(job) ? <Going job={job} /> : <Over job={job} />}
      <GatesNow jobId={job.id} />
    </dl>
  );
}

function Going({ job }: { job: Job }) {
  const isReading = job.state === "INGESTING";
  return (
    <>
      <Fact name="Rate now">{perSecond(job.rate)}</Fact>
      <Fact name="Left">
        {job.eta?.words ?? (isReading ? "still reading" : "nobody can say yet")}
      </Fact>
      <Fact name="Limited by">{job.limitedBy?.why ?? "nothing: it goes as fast as it can"}</Fact>
      <Fact name="Began">
        <Ago at={job.startedAt ?? job.createdAt} />
      </Fact>
    </>
  );
}

function Over({ job }: { job: Job }) {
  const took = tookOf(job);
  return (
    <>
      <Fact name="Ended">
        <Time at={job.finishedAt} />
      </Fact>
      <Fact name="Took">{took === null ? "–" : duration(took)}</Fact>
      <Fact name="On average">{took ? perSecond(job.counts.total / took) : "–"}</Fact>
    </>
  );
}

function tookOf({ startedAt, createdAt, finishedAt }: Job): number | null {
  const from = startedAt ?? createdAt;
  if (!from || !finishedAt) return null;
  return (new Date(finishedAt).getTime() - new Date(from).getTime()) / 1000;
}
