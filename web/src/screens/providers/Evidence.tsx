import { Ago, perSecond } from "../../design";
import styles from "./Evidence.module.css";
import { isStep, type Line, sentence } from "./model";

/** Observations and decisions, newest first. */
export function Evidence({ lines }: { lines: readonly (Line & { gate?: string })[] }) {
  return (
    <ol className={styles.list}>
      {lines.map((line) => (
        <li key={`${line.gate} ${line.at} ${line.seen} ${line.decided}`}>
          <span className={styles.what}>
            {line.gate && <strong>{line.gate}</strong>}
            {isStep(line) && (
              <b>
                {perSecond(line.before)} → {perSecond(line.after)}
              </b>
            )}
            <span className={styles.why}>{sentence(line)}</span>
          </span>
          <span className={styles.at}>
            <Ago at={line.at} />
          </span>
        </li>
      ))}
    </ol>
  );
}
