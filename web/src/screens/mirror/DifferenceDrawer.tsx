import type { Difference } from "../../api";
import { Badge, Drawer } from "../../design";
import { Value } from "../item/Value";
import { FieldChanges } from "../stream/FieldChanges";
import { changesBetween, KINDS } from "../stream/model";
import styles from "../stream/RowDrawer.module.css";

/** How one row differs between two passes. */
export function DifferenceDrawer({
  difference,
  onClose,
}: {
  difference: Difference;
  onClose: () => void;
}) {
  const { rowId, kind, before, after } = difference;
  const { label, tone, icon } = KINDS[kind];
  const changes = changesBetween(before, after);
  return (
    <Drawer title={`Row ${rowId}`} onClose={onClose}>
      <div className={styles.parts}>
        <p>
          <Badge tone={tone} icon={icon}>
            {label}
          </Badge>
        </p>
        {changes && changes.length > 0 && (
          <section>
            <h3>Fields that differ</h3>
            <FieldChanges changes={changes} />
          </section>
        )}
        {before !== null && (
          <section>
            <h3>Older pass</h3>
            <Value value={before} />
          </section>
        )}
        {after !== null && (
          <section>
            <h3>Newer pass</h3>
            <Value value={after} />
          </section>
        )}
        {kind === "changed" && changes === null && (
          <p className={styles.quiet}>The body at the end of the older pass is not stored.</p>
        )}
      </div>
    </Drawer>
  );
}
