import type { Gate } from "../../api";
import { Ago, perSecond } from "../../design";
import styles from "./Evidence.module.css";

type Line = Gate["evidence"][number];

/** What was seen and what was made of it, newest first. */
export function Evidence({ lines }: { lines: readonly Line[] }) {
  return (
    <section>
      <h3>Evidence</h3>
      {lines.length === 0 ? (
        <p className={styles.none}>Nothing was learned here yet.</p>
      ) : (
        <ol className={styles.list}>
          {[...lines].reverse().map((line) => (
            <li key={`${line.at} ${line.seen} ${line.decided}`} className={styles.line}>
              <span className={styles.at}>
                <Ago at={line.at} />
              </span>
              <span>
                {line.seen}
                <span className={styles.decided}>
                  {line.decided}
                  {isStep(line) && (
                    <b>
                      {" "}
                      {perSecond(line.before)} → {perSecond(line.after)}
                    </b>
                  )}
                </span>
              </span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function isStep({ before, after }: Line): boolean {
  return after !== null && before !== after;
}
