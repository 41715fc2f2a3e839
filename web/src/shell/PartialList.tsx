import { Button } from "../design";
import styles from "./PartialList.module.css";

/** A link may point into a list: says so, and leads to its beginning. */
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
