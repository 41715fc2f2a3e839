import { classes, Icon, inLine, partsOf } from "../../design";
import styles from "./Comparison.module.css";
import { type Candidate, fieldsOf, isAlike } from "./model";

export interface ComparisonProps {
  row: unknown;
  candidates: readonly Candidate[];
  /** Index of the selected candidate. */
  chosen: number;
  onChoose: (place: number) => void;
}

/** The row and its candidates, field by field. Values equal to the row's are marked. */
export function Comparison({ row, candidates, chosen, onChoose }: ComparisonProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section className={styles.scroller} tabIndex={0} aria-label="Row and candidates">
      <table className={styles.table}>
        <thead>
          <tr>
            <td />
            <th scope="col">Row</th>
            {candidates.map((candidate, place) => (
              <th
                key={candidate.id}
                scope="col"
                className={classes(place === chosen && styles.chosen)}
              >
                <CandidateHead
                  candidate={candidate}
                  number={place + 1}
                  isChosen={place === chosen}
                  onChoose={() => onChoose(place)}
                />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {fieldsOf(row, candidates).map((field) => (
            <tr key={field}>
              <th scope="row">{field}</th>
              <td>{inLine(partsOf(row)[field])}</td>
              {candidates.map(({ id, values }, place) => (
                <td key={id} className={classes(place === chosen && styles.chosen)}>
                  <Value
                    value={values[field]}
                    isSame={isAlike(partsOf(row)[field], values[field])}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** The name of a candidate; a click selects it. */
export function CandidateHead({
  candidate,
  number,
  isChosen,
  onChoose,
}: {
  candidate: Candidate;
  number: number;
  isChosen: boolean;
  onChoose: () => void;
}) {
  return (
    <label className={styles.head}>
      <input type="radio" name="candidate" checked={isChosen} onChange={onChoose} />
      <span>
        {number}. {candidate.name}
        <small>{candidate.score ? `score ${candidate.score}` : `id ${candidate.id}`}</small>
      </span>
    </label>
  );
}

/** A candidate's value, marked if it equals the row's. */
export function Value({ value, isSame }: { value: unknown; isSame: boolean }) {
  return (
    <span className={classes(isSame && styles.same)}>
      {inLine(value)}
      {isSame && (
        <>
          {" "}
          <Icon name="check" size={12} />
          <span className="unseen">same as in the row</span>
        </>
      )}
    </span>
  );
}
