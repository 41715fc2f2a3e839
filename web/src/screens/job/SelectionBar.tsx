import { Button, grouped, type Selection } from "../../design";
import styles from "./SelectionBar.module.css";

/** What was chosen, and what can be done with it. */
export function SelectionBar({
  selection,
  total,
  onRunAgain,
}: {
  selection: Selection;
  /** How many match, where the server's counters tell. */
  total: number | undefined;
  /** Absent where nothing of it can run again. */
  onRunAgain: (() => void) | undefined;
}) {
  if (!selection.any) return null;
  return (
    <div className={styles.bar} role="status">
      <span>{inWords(selection, total)}</span>
      {onRunAgain ? (
        <Button icon="repeat" onClick={onRunAgain}>
          Run again…
        </Button>
      ) : (
        <span>Only finished items can run again.</span>
      )}
      <Button look="quiet" icon="cross" onClick={selection.clear}>
        Choose none
      </Button>
    </div>
  );
}

/** "3 chosen", "All 1,204 that match are chosen, but 2". */
export function inWords(
  { everything, ids }: Pick<Selection, "everything" | "ids">,
  total: number | undefined,
): string {
  if (!everything) return `${grouped(ids.size)} chosen`;
  const all = total === undefined ? "All" : `All ${grouped(total)}`;
  const but = ids.size ? `, but ${grouped(ids.size)}` : "";
  return `${all} that match are chosen${but}`;
}
