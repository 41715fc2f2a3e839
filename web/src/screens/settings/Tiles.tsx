import type { ReactNode } from "react";
import { classes } from "../../design";
import styles from "./Tiles.module.css";

/** Numbers that are read from afar. */
export function Tiles({ children }: { children: ReactNode }) {
  return <dl className={styles.tiles}>{children}</dl>;
}

/** One number, what it is, and what it means. */
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
