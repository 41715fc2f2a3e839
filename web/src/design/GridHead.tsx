import styles from "./DataGrid.module.css";
import type { Column } from "./GridRow";
import type { Selection } from "./selection";

/** The column headers, and the checkbox that selects all matching rows. */
export function GridHead<T>({
  columns,
  selection,
}: {
  columns: readonly Column<T>[];
  selection: Selection | undefined;
}) {
  return (
    <div role="row" aria-rowindex={1} className={styles.head}>
      {selection && (
        <span role="columnheader" className={styles.check}>
          <input
            type="checkbox"
            aria-label="Select all matching rows"
            title="Select all matching rows, including rows not loaded"
            checked={selection.everything && selection.ids.size === 0}
            onChange={() => (selection.everything ? selection.clear() : selection.selectAll())}
          />
        </span>
      )}
      {columns.map((column) => (
        <span key={column.id} role="columnheader" className={styles[column.align ?? "start"]}>
          {column.hideHeader ? <span className="unseen">{column.header}</span> : column.header}
        </span>
      ))}
    </div>
  );
}
