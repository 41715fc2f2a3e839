import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from "react";
import { classes } from "./format";
import styles from "./Tabs.module.css";

export interface Tab {
  id: string;
  label: string;
  /** Shown beside the label, such as a count. */
  extra?: ReactNode;
}

/** Tabs. The open one belongs in the URL. */
export function Tabs({
  label,
  tabs,
  open,
  onOpen,
  children,
}: {
  label: string;
  tabs: readonly Tab[];
  open: string;
  onOpen: (id: string) => void;
  children: ReactNode;
}) {
  const base = useId();
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Scroll to the open tab if not all of them fit.
    const tab = list.current?.querySelector<HTMLElement>(`[id="${base}-${open}"]`);
    if (tab && list.current) list.current.scrollLeft = tab.offsetLeft - tab.offsetWidth / 2;
  }, [base, open]);
  const move = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const at = tabs.findIndex((tab) => tab.id === open);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (!next) return;
    onOpen(next.id);
    document.getElementById(`${base}-${next.id}`)?.focus();
  };
  return (
    <>
      <div ref={list} role="tablist" aria-label={label} className={styles.list} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            id={`${base}-${tab.id}`}
            type="button"
            role="tab"
            aria-selected={tab.id === open}
            aria-controls={`${base}-panel`}
            tabIndex={tab.id === open ? 0 : -1}
            className={classes(styles.tab, tab.id === open && styles.open)}
            onClick={() => onOpen(tab.id)}
          >
            {tab.label}
            {tab.extra !== undefined && <span className={styles.extra}>{tab.extra}</span>}
          </button>
        ))}
      </div>
      <div
        role="tabpanel"
        id={`${base}-panel`}
        aria-labelledby={`${base}-${open}`}
        className={styles.panel}
      >
        {children}
      </div>
    </>
  );
}
