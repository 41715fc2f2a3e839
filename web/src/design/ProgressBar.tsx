import type { Counts } from "../api";
import { settled } from "../api/moveRules";
import { grouped } from "./numbers";
import styles from "./ProgressBar.module.css";

const PARTS = [
  ["done", "done"],
  ["notFound", "not found"],
  ["skipped", "skipped"],
  ["review", "to review"],
  ["error", "errors"],
  ["cancelled", "cancelled"],
  ["processing", "running"],
] as const;

/** Progress of a job by outcome, in words as tooltip and for screen readers. */
export function ProgressBar({ counts }: { counts: Counts }) {
  const { total } = counts;
  const words = inWords(counts);
  return (
    <div
      className={styles.bar}
      role="progressbar"
      aria-valuemin={0}
      aria-valuemax={total}
      aria-valuenow={settled(counts)}
      aria-valuetext={words}
      aria-label="Progress"
      title={words}
    >
      {PARTS.map(([name]) => (
        <span
          key={name}
          className={styles[name]}
          style={{ width: `${total ? (100 * counts[name]) / total : 0}%` }}
        />
      ))}
    </div>
  );
}

/** Counters as a sentence: "1,204 of 2,000 finished: 1,100 done, 4 errors". */
export function inWords(counts: Counts): string {
  const parts = PARTS.filter(([name]) => counts[name] > 0).map(
    ([name, word]) => `${grouped(counts[name])} ${word}`,
  );
  const head = `${grouped(settled(counts))} of ${grouped(counts.total)} finished`;
  return parts.length ? `${head}: ${parts.join(", ")}` : head;
}
