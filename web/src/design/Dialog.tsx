import { type FormEvent, type ReactNode, useId } from "react";
import { Button } from "./Button";
import styles from "./Dialog.module.css";
import { useModal } from "./modal";

/** A modal dialog. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
}) {
  const ref = useModal(onClose);
  const id = useId();
  return (
    <dialog ref={ref} className={styles.dialog} aria-labelledby={id}>
      <div className={styles.head}>
        <h2 id={id}>{title}</h2>
        <Button variant="quiet" icon="cross" aria-label="Close" onClick={onClose} />
      </div>
      {children}
    </dialog>
  );
}

/** Asks for confirmation. The title and the button name the action and the count. */
export function Confirm({
  title,
  action,
  cancel = "Cancel",
  danger,
  busy,
  problem,
  disabled,
  onConfirm,
  onClose,
  children,
}: {
  /** "Run 1,204 items again?" */
  title: string;
  /** "Run 1,204 again": never only "OK". */
  action: string;
  cancel?: string;
  danger?: boolean;
  busy?: boolean;
  disabled?: boolean;
  problem?: string | undefined;
  onConfirm: () => void;
  onClose: () => void;
  children?: ReactNode;
}) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onConfirm();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit} className={styles.form}>
        {children}
        {problem && (
          <p role="alert" className={styles.problem}>
            {problem}
          </p>
        )}
        <div className={styles.buttons}>
          <Button onClick={onClose}>{cancel}</Button>
          <Button
            type="submit"
            variant={danger ? "danger" : "primary"}
            busy={busy ?? false}
            disabled={disabled}
          >
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
