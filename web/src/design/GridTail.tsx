import type { Rows } from "../api/keyset";
import styles from "./DataGrid.module.css";
import { counted, grouped } from "./format";

export function GridTail<T>({ rows, total }: { rows: Rows<T>; total: number | undefined }) {
  return (
    <p className={styles.tail}>
      {rows.problem ? (
        <button type="button" onClick={rows.retry}>
          {rows.problem.detail} Try again
        </button>
      ) : (
        extentOf(rows, total)
      )}
    </p>
  );
}

/** "All 7 rows", "200 of 60,000 rows", or "200 rows loaded" if the total is unknown. */
export function extentOf(
  { count, complete }: Pick<Rows<unknown>, "count" | "complete">,
  total: number | undefined,
): string {
  if (complete) return count === 1 ? "1 row" : `All ${counted(count, "row")}`;
  if (total === undefined || total < count) return `${counted(count, "row")} loaded`;
  return `${grouped(count)} of ${counted(total, "row")}`;
}
