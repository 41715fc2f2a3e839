import type { ReactNode } from "react";
import styles from "./Facts.module.css";

/** Names and what they are: one below the other, or as tiles with the name above. */
export function Facts({
  variant = "list",
  children,
}: {
  variant?: "list" | "tiles";
  children: ReactNode;
}) {
  return <dl className={styles[variant]}>{children}</dl>;
}

/** One of them. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={styles.fact}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
