import { isUnfinished, type Job } from "../../api";
import { Ago, bytes, duration, Fact, Facts, grouped, perSecond, Time } from "../../design";
import { Cause } from "../jobs/Cause";
import { leftOf, rateOf } from "../jobs/model";
import { GatesNow } from "./GatesNow";
import styles from "./JobFacts.module.css";
import { readSoFar } from "./model";

/** Rate, time left and limit of a job. */
export function JobFacts({ job }: { job: Job }) {
  return (
    <Facts variant="tiles">
      {isUnfinished(job) ? <RunningFacts job={job} /> : <FinishedFacts job={job} />}
    </Facts>
  );
}

function RunningFacts({ job }: { job: Job }) {
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

function FinishedFacts({ job }: { job: Job }) {
  const took = durationOf(job);
  const worked = job.counts.total - job.counts.cancelled;
  return (
    <>
      <Fact name="Ended">
        <Time at={job.finishedAt} />
      </Fact>
      <Fact name="Duration">{took === null ? "–" : duration(took)}</Fact>
      <Fact name="Average rate">{took ? perSecond(worked / took) : "–"}</Fact>
    </>
  );
}

function durationOf({ startedAt, createdAt, finishedAt }: Job): number | null {
  const from = startedAt ?? createdAt;
  if (!from || !finishedAt) return null;
  return (new Date(finishedAt).getTime() - new Date(from).getTime()) / 1000;
}

/** Progress of reading the file, before the job starts. */
export function ReadingProgress({ job }: { job: Job }) {
  const { share, size } = readSoFar(job.ingest);
  const rows = `${grouped(job.counts.total)} rows read`;
  return (
    <>
      <progress
        className={styles.bar}
        aria-label="Reading file"
        {...(share === null ? {} : { value: share, max: 1 })}
      />
      <span className={styles.words}>
        {size ? `${bytes(size.read)} of ${bytes(size.whole)} · ${rows}` : rows}
      </span>
    </>
  );
}
