import type { ReactNode } from "react";
import styles from "./Facts.module.css";

/** Names with values: a list, or tiles with the name above. */
export function Facts({
  variant = "list",
  children,
}: {
  variant?: "list" | "tiles";
  children: ReactNode;
}) {
  return <dl className={styles[variant]}>{children}</dl>;
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={styles.fact}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
