import type { Preview } from "../../api";
import { Checkbox, grouped, Icon } from "../../design";
import styles from "./BadRows.module.css";
import type { OnBadRow } from "./draft";

const CHOICES: readonly { value: OnBadRow; label: string; about: string }[] = [
  {
    value: "item-error",
    label: "Keep it as an error",
    about: "Nothing is lost: it stands in the grid and in the export, with what is wrong.",
  },
  {
    value: "skip",
    label: "Leave it out",
    about: "Only the good rows become items; the job tells how many were left out.",
  },
  {
    value: "fail",
    label: "Refuse the whole file",
    about: "The job fails at the first bad row, and nothing is asked of anybody.",
  },
];

/** What becomes of rows that cannot be used, and which of them were met already. */
export function BadRows({
  chosen,
  problems,
  onChoose,
}: {
  chosen: OnBadRow;
  problems: Preview["problems"];
  onChoose: (value: OnBadRow) => void;
}) {
  return (
    <fieldset>
      <legend>A row that cannot be used</legend>
      {CHOICES.map(({ value, label, about }) => (
        <Checkbox
          key={value}
          type="radio"
          name="onBadRow"
          value={value}
          label={label}
          hint={about}
          checked={chosen === value}
          onChange={() => onChoose(value)}
        />
      ))}
      {problems.length > 0 && (
        <div className={styles.met}>
          <p>
            <Icon name="warn" /> Among the first rows,{" "}
            {problems.length === 1 ? "one cannot" : `${grouped(problems.length)} cannot`} be used:
          </p>
          <ul>
            {problems.slice(0, 5).map(({ row, problem }) => (
              <li key={row}>
                Line {grouped(row)}: {problem}
              </li>
            ))}
            {problems.length > 5 && <li>and {grouped(problems.length - 5)} more</li>}
          </ul>
        </div>
      )}
    </fieldset>
  );
}
