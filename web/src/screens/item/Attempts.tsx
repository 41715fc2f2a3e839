import type { Attempt, ItemWhole } from "../../api";
import { Badge, classes, duration, grouped, statusStyle, Time, type Tone } from "../../design";
import styles from "./Attempts.module.css";
import { Calls } from "./Calls";
import { isCounted, PARTS, type Split, splitOf, totalOf } from "./model";

const WORDS: Record<keyof Split, string> = {
  retry: "waiting for retry",
  queue: "in queue",
  gate: "waiting for the rate limit",
  network: "network",
  work: "handler",
};

const LEAST_MS = 0.5;

/** Tones of outcomes that leave the item open. Other outcomes have the tone of their status. */
const TONES: Record<string, Tone> = {
  retry: "warn",
  throttled: "warn",
  deferred: "warn",
  crashed: "warn",
};

/** The attempts in order, and how each spent its time. */
export function Attempts({ item }: { item: ItemWhole }) {
  if (item.history.length === 0) return <p className={styles.muted}>No attempts yet.</p>;
  const splits = item.history.map((attempt, index) => splitOf(attempt, item.history[index - 1]));
  const longest = Math.max(...splits.map(totalOf), 1);
  return (
    <ol className={styles.attempts}>
      {item.history.map((attempt, index) => {
        const split = splits[index];
        return (
          <li
            key={`${attempt.epoch} ${attempt.number} ${attempt.endedAt}`}
            className={styles.attempt}
          >
            <Head attempt={attempt} />
            {split && <Times split={split} longest={longest} />}
            {attempt.reason && (
              <p className={styles.reason}>
                {attempt.reason}
                {attempt.failedAt && <code className={styles.place}>{attempt.failedAt}</code>}
              </p>
            )}
            {attempt.traceback && (
              <details open={index === item.history.length - 1}>
                <summary>Traceback</summary>
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
                <pre className={styles.traceback} tabIndex={0}>
                  {attempt.traceback}
                </pre>
              </details>
            )}
            <Calls calls={attempt.calls} />
          </li>
        );
      })}
    </ol>
  );
}

function Head({ attempt }: { attempt: Attempt }) {
  const { outcome, errorClass, strategy, worker, endedAt } = attempt;
  return (
    <div className={styles.head}>
      {isCounted(attempt) ? (
        <strong>{grouped(attempt.number)}</strong>
      ) : (
        <span className={styles.muted}>not counted</span>
      )}
      <Badge tone={TONES[outcome] ?? statusStyle(outcome.toUpperCase()).tone}>
        {outcome.replaceAll("_", " ")}
      </Badge>
      {errorClass && errorClass !== outcome && <span>{errorClass}</span>}
      {strategy > 0 && <span>strategy {grouped(strategy + 1)}</span>}
      <span className={styles.muted}>
        <Time at={endedAt} /> by {worker}
      </span>
    </div>
  );
}

function Times({ split, longest }: { split: Split; longest: number }) {
  const told = PARTS.filter((part) => split[part] >= LEAST_MS);
  return (
    <div className={styles.times}>
      <div className={styles.bar} aria-hidden="true">
        {told.map((part) => (
          <span
            key={part}
            className={classes(styles.piece, styles[part])}
            style={{ width: `${(100 * split[part]) / longest}%` }}
          />
        ))}
      </div>
      <ul className={styles.legend}>
        {told.map((part) => (
          <li key={part}>
            <span className={classes(styles.dot, styles[part])} aria-hidden="true" />
            {duration(split[part] / 1000)} {WORDS[part]}
          </li>
        ))}
      </ul>
    </div>
  );
}
