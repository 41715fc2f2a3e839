import type { ReactNode } from "react";
import styles from "./JobFacts.module.css";

/** A name and what it is. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={styles.fact}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
