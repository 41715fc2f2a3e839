import type { ReactNode } from "react";
import styles from "./States.module.css";

/** Shown instead of missing data: why, and what to do. */
export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <section className={styles.state}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}
