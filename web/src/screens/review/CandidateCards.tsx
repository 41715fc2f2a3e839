import { classes, inLine, partsOf } from "../../design";
import styles from "./CandidateCards.module.css";
import { CandidateHead, type ComparisonProps, Value } from "./Comparison";
import { fieldsOf, isAlike } from "./model";

/** The comparison on a phone: the row, then each candidate. */
export function CandidateCards({ row, candidates, chosen, onChoose }: ComparisonProps) {
  return (
    <div className={styles.cards}>
      <section className={styles.card} aria-label="Row">
        <h3>Row</h3>
        <dl>
          {fieldsOf(row, []).map((field) => (
            <div key={field}>
              <dt>{field}</dt>
              <dd>{inLine(partsOf(row)[field])}</dd>
            </div>
          ))}
        </dl>
      </section>
      {candidates.map((candidate, place) => (
        <section
          key={candidate.id}
          aria-label={`Candidate ${place + 1}`}
          className={classes(styles.card, place === chosen && styles.chosen)}
        >
          <CandidateHead
            candidate={candidate}
            number={place + 1}
            isChosen={place === chosen}
            onChoose={() => onChoose(place)}
          />
          <dl>
            {fieldsOf(null, [candidate]).map((field) => (
              <div key={field}>
                <dt>{field}</dt>
                <dd>
                  <Value
                    value={candidate.values[field]}
                    isSame={isAlike(partsOf(row)[field], candidate.values[field])}
                  />
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  );
}
