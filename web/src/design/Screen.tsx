import { type ReactNode, useEffect } from "react";
import styles from "./Screen.module.css";

/** What every screen looks like: a title, what can be done, then its content. */
export function Screen({
  title,
  heading,
  actions,
  children,
}: {
  /** The name of the browser's tab, and of the screen unless `heading` draws it otherwise. */
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

/** Filters and searches above a list. */
export function Toolbar({ label, children }: { label: string; children: ReactNode }) {
  return (
    <search aria-label={label} className={styles.toolbar}>
      {children}
    </search>
  );
}

/** A framed part of a screen. */
export function Panel({ title, children }: { title?: string; children: ReactNode }) {
  return (
    <section className={styles.panel}>
      {title && <h2>{title}</h2>}
      {children}
    </section>
  );
}
