import type { ReactNode } from "react";
import { Button } from "./Button";
import { grouped } from "./numbers";
import styles from "./SelectionBar.module.css";
import type { Selection } from "./selection";

/** What was chosen, and what can be done with it. */
export function SelectionBar({
  selection,
  total,
  children,
}: {
  selection: Selection;
  /** How many match, where the server's counters tell. */
  total?: number | undefined;
  /** What can be done, or why nothing can. */
  children: ReactNode;
}) {
  if (!selection.any) return null;
  return (
    <div className={styles.bar} role="status">
      <span>{chosenInWords(selection, total)}</span>
      {children}
      <Button look="quiet" icon="cross" onClick={selection.clear}>
        Choose none
      </Button>
    </div>
  );
}

/** "3 chosen", "All 1,204 that match are chosen, but 2". */
export function chosenInWords(
  { everything, ids }: Pick<Selection, "everything" | "ids">,
  total: number | undefined,
): string {
  if (!everything) return `${grouped(ids.size)} chosen`;
  const all = total === undefined ? "All" : `All ${grouped(total)}`;
  const but = ids.size ? `, but ${grouped(ids.size)}` : "";
  return `${all} that match are chosen${but}`;
}
