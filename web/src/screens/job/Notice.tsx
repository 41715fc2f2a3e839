import { isUnfinished, type Job } from "../../api";
import { Ago, classes, Icon } from "../../design";
import { Cause } from "../jobs/Cause";
import { isStopped } from "../jobs/model";
import styles from "./Notice.module.css";

/** A banner: why a job is paused, stopped or failed. */
export function Notice({ job }: { job: Job }) {
  if (job.state === "FAILED" && job.lastError) {
    return (
      <p className={classes(styles.notice, styles.failed)} role="alert">
        <Icon name="warn" /> The job failed: {job.lastError}
      </p>
    );
  }
  if (job.state === "PAUSED") {
    return (
      <p className={styles.notice}>
        <Icon name="pause" /> Paused{job.pauseReason ? `: ${job.pauseReason}` : ""}.
        {job.resumeAt ? (
          <>
            {" "}
            It resumes <Ago at={job.resumeAt} />.
          </>
        ) : (
          " Resume it to continue."
        )}
      </p>
    );
  }
  if (isUnfinished(job) && isStopped(job) && job.limitedBy) {
    return (
      <p className={styles.notice} role="status">
        <Icon name="warn" /> <Cause wait={job.limitedBy} />.
      </p>
    );
  }
  return null;
}
