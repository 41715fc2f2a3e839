import type { Counts } from "../api";
import { countOf, isOpen, settled } from "../api/moveRules";
import { ITEM_DISPLAY, ITEM_STATUSES, OPEN } from "../api/moves";
import { grouped } from "./format";
import styles from "./ProgressBar.module.css";
import { toneStyle } from "./status";

/** Finished statuses first, then running items. Pending items are the empty rest of the bar. */
const PARTS = [
  ...ITEM_STATUSES.filter((status) => !isOpen({ status })),
  ...OPEN.filter((status) => status !== "PENDING"),
];

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
      {PARTS.map((status) => (
        <span
          key={status}
          className={isOpen({ status }) ? styles.open : undefined}
          style={{
            ...toneStyle(ITEM_DISPLAY[status].tone),
            width: `${total ? (100 * countOf(counts, status)) / total : 0}%`,
          }}
        />
      ))}
    </div>
  );
}

/** Counters as a sentence: "1,204 of 2,000 finished: 1,100 done, 4 errors". */
export function inWords(counts: Counts): string {
  const parts = PARTS.filter((status) => countOf(counts, status) > 0).map((status) => {
    const count = countOf(counts, status);
    const { one, many } = ITEM_DISPLAY[status];
    return `${grouped(count)} ${count === 1 ? one : many}`;
  });
  const head = `${grouped(settled(counts))} of ${grouped(counts.total)} finished`;
  return parts.length ? `${head}: ${parts.join(", ")}` : head;
}
