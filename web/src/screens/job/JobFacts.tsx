import { isUnfinished, type Job } from "../../api";
import { Ago, duration, Fact, Facts, perSecond, Time } from "../../design";
import { Cause } from "../jobs/Cause";
import { leftOf, rateOf } from "../jobs/pace";
import { GatesNow } from "./GatesNow";

/** Rate, time left and limit of a job. */
export function JobFacts({ job }: { job: Job }) {
  return (
    <Facts variant="tiles">{isUnfinished(job) ? <Going job={job} /> : <Over job={job} />}</Facts>
  );
}

function Going({ job }: { job: Job }) {
  return (
    <>
      <Fact name="Rate">{rateOf(job)}</Fact>
      <Fact name="Time left">{leftOf(job)}</Fact>
      <Fact name="Limited by">{job.limitedBy ? <Cause wait={job.limitedBy} /> : "–"}</Fact>
      <Fact name="Started">
        {/* Reading the file counts: not the time when the first row was claimed. */}
        <Ago at={job.createdAt} />
      </Fact>
      <GatesNow jobId={job.id} />
    </>
  );
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
      <Fact name="Average rate">{took ? perSecond(worked / took) : "–"}</Fact>
    </>
  );
}

function tookOf({ startedAt, createdAt, finishedAt }: Job): number | null {
  const from = startedAt ?? createdAt;
  if (!from || !finishedAt) return null;
  return (new Date(finishedAt).getTime() - new Date(from).getTime()) / 1000;
}
