import { createContext, type ReactNode, useCallback, useContext, useState } from "react";
import { asProblem } from "../api/problem";
import { Button } from "./Button";
import { classes } from "./format";
import styles from "./Toast.module.css";

interface Notice {
  id: number;
  text: ReactNode;
  failed: boolean;
}

interface Toasts {
  /** Confirms an action: "1,204 items queued to run again." */
  success: (text: ReactNode) => void;
  /** Shows an error with the server's text. It stays until it is closed. */
  fail: (error: unknown) => void;
}

const ToastContext = createContext<Toasts | null>(null);
const SHOWN_MS = 6_000;
let nextId = 1;

/** Notifications in a corner; screen readers announce them. */
export function ToastProvider({ children }: { children: ReactNode }) {
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const close = useCallback(
    (id: number) => setNotices((all) => all.filter((each) => each.id !== id)),
    [],
  );
  const add = useCallback(
    (text: ReactNode, failed: boolean) => {
      const id = nextId++;
      setNotices((all) => [...all.slice(-3), { id, text, failed }]);
      if (!failed) setTimeout(() => close(id), SHOWN_MS);
    },
    [close],
  );
  const [toasts] = useState<Toasts>(() => ({
    success: (text) => add(text, false),
    fail: (error) => add(asProblem(error).detail, true),
  }));
  return (
    <ToastContext value={toasts}>
      {children}
      <div className={styles.stack} role="status" aria-live="polite">
        {notices.map(({ id, text, failed }) => (
          <div key={id} className={classes(styles.toast, failed && styles.failed)}>
            <span>{text}</span>
            <Button variant="quiet" icon="cross" aria-label="Close" onClick={() => close(id)} />
          </div>
        ))}
      </div>
    </ToastContext>
  );
}

export function useToasts(): Toasts {
  const toasts = useContext(ToastContext);
  if (!toasts) throw new Error("useToasts needs a ToastProvider");
  return toasts;
}
