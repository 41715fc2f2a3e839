import { type ReactNode, useEffect } from "react";
import styles from "./Screen.module.css";

/** The layout of every screen: title, actions, content. */
export function Screen({
  title,
  heading,
  actions,
  children,
}: {
  /** Title of the browser tab, and of the screen unless `heading` replaces it. */
  title: string;
  heading?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Headgate`;
  }, [title]);
  return (
    <div className={styles.screen}>
      <header className={styles.head}>
        <h1>{heading ?? title}</h1>
        {actions && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

export function Toolbar({ label, children }: { label: string; children: ReactNode }) {
  return (
    <search aria-label={label} className={styles.toolbar}>
      {children}
    </search>
  );
}

export function Panel({ title, children }: { title?: string; children: ReactNode }) {
  return (
    <section className={styles.panel}>
      {title && <h2>{title}</h2>}
      {children}
    </section>
  );
}
