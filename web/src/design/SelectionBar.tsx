import type { ReactNode } from "react";
import { Button } from "./Button";
import { counted, grouped } from "./format";
import styles from "./SelectionBar.module.css";
import type { Selection } from "./selection";

/** The selection and its actions. */
export function SelectionBar({
  selection,
  total,
  children,
}: {
  selection: Selection;
  /** Number of matching rows, if the counters know it. */
  total?: number | undefined;
  /** The actions, or why there are none. */
  children: ReactNode;
}) {
  if (!selection.any) return null;
  return (
    <div className={styles.bar} role="status">
      <span>{chosenInWords(selection, total)}</span>
      {children}
      <Button variant="quiet" icon="cross" onClick={selection.clear}>
        Clear
      </Button>
    </div>
  );
}

/** "3 rows selected", "All 1,204 matching rows selected, except 2". */
export function chosenInWords(
  { everything, ids }: Pick<Selection, "everything" | "ids">,
  total: number | undefined,
): string {
  if (!everything) return `${counted(ids.size, "row")} selected`;
  const all = total === undefined ? "All" : `All ${grouped(total)}`;
  const but = ids.size ? `, except ${grouped(ids.size)}` : "";
  return `${all} matching rows selected${but}`;
}
