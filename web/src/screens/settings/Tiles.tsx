import type { ReactNode } from "react";
import { classes } from "../../design";
import styles from "./Tiles.module.css";

/** A row of large numbers. */
export function Tiles({ children }: { children: ReactNode }) {
  return <dl className={styles.tiles}>{children}</dl>;
}

/** One number with its name and a note. */
export function Tile({
  name,
  value,
  note,
  isBad = false,
}: {
  name: string;
  value: ReactNode;
  note?: ReactNode;
  isBad?: boolean;
}) {
  return (
    <div className={styles.tile}>
      <dt>{name}</dt>
      <dd className={classes(styles.value, isBad && styles.bad)}>{value}</dd>
      {note && <dd className={styles.note}>{note}</dd>}
    </div>
  );
}
