import { Button } from "../design";
import styles from "./FurtherDown.module.css";

/** A link may point into a list: says so, and leads to its beginning. */
export function FurtherDown({
  start,
  toStart,
}: {
  start: string | undefined;
  toStart: () => void;
}) {
  if (!start) return null;
  return (
    <p className={styles.note}>
      This link begins further down the list. <Button onClick={toStart}>Show from the top</Button>
    </p>
  );
}
