import type { Job } from "../../api";
import { bytes, grouped } from "../../design";
import styles from "./ReadingProgress.module.css";
import { readSoFar } from "./reading";

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
