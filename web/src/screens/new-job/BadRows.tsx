import type { Preview } from "../../api";
import { Checkbox, grouped, Icon } from "../../design";
import styles from "./BadRows.module.css";
import type { OnBadRow } from "./model";

const CHOICES: readonly { value: OnBadRow; label: string; about: string }[] = [
  {
    value: "item-error",
    label: "Keep as error",
    about: "The row appears in the grid and in exports, with the reason.",
  },
  {
    value: "skip",
    label: "Leave out",
    about: "Only valid rows become items. The job shows how many were left out.",
  },
  {
    value: "fail",
    label: "Stop the job",
    about: "Stop at the first invalid row. No requests are sent.",
  },
];

/** What to do with invalid rows, and the invalid rows found in the preview. */
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
      <legend>Invalid rows</legend>
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
            <Icon name="warn" /> {problems.length === 1 ? "One" : grouped(problems.length)} of the
            first rows {problems.length === 1 ? "is" : "are"} invalid:
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
