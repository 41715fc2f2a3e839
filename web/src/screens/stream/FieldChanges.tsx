import { inLine } from "../../design";
import styles from "./FieldChanges.module.css";
import type { FieldChange } from "./model";

/** Fields that differ, with the value before and after. */
export function FieldChanges({ changes }: { changes: readonly FieldChange[] }) {
  return (
    <dl className={styles.changes}>
      {changes.map(({ name, before, after }) => (
        <div key={name} className={styles.change}>
          <dt>{name}</dt>
          <dd>
            <del>{shown(before)}</del> <ins>{shown(after)}</ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function shown(value: unknown): string {
  if (value === undefined) return "absent";
  if (value === null) return "null";
  return value === "" ? "empty" : inLine(value);
}
