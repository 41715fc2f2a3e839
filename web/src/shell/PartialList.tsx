import { Button } from "../design";
import styles from "./PartialList.module.css";

/** Says that the list starts at the cursor of a link, and leads to its first row. */
export function PartialList({
  start,
  toStart,
}: {
  start: string | undefined;
  toStart: () => void;
}) {
  if (!start) return null;
  return (
    <p className={styles.note}>
      Earlier rows are not shown. <Button onClick={toStart}>Show from the top</Button>
    </p>
  );
}
