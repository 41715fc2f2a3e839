import { type ReactNode, useId } from "react";
import { Button } from "./Button";
import { useModal } from "./Dialog";
import styles from "./Drawer.module.css";

/** Details beside a list. On a phone the drawer takes the whole screen. */
export function Drawer({
  title,
  onClose,
  actions,
  children,
}: {
  title: ReactNode;
  onClose: () => void;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const ref = useModal(onClose);
  const id = useId();
  return (
    <dialog ref={ref} className={styles.drawer} aria-labelledby={id}>
      <div className={styles.head}>
        <h2 id={id}>{title}</h2>
        <div className={styles.actions}>
          {actions}
          <Button variant="quiet" icon="cross" aria-label="Close" onClick={onClose} />
        </div>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls what has the focus */}
      <div className={styles.body} role="region" aria-labelledby={id} tabIndex={0}>
        {children}
      </div>
    </dialog>
  );
}
