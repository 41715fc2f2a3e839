import { type FormEvent, type ReactNode, type RefObject, useEffect, useId, useRef } from "react";
import { Button } from "./Button";
import styles from "./Dialog.module.css";

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

const FORM_CONTROLS = "form :is(input, select, textarea, button)";

/**
 * A dialog element that is open while the component is mounted. Focus stays inside and returns
 * afterwards.
 */
export function useModal(onClose: () => void): RefObject<HTMLDialogElement | null> {
  const ref = useRef<HTMLDialogElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    const dialog = ref.current;
    if (!dialog) return;
    if (!dialog.open) dialog.showModal();
    // Focus the first field, not the close button above it.
    dialog.querySelector<HTMLElement>(FORM_CONTROLS)?.focus();
    const cancel = (event: Event) => {
      event.preventDefault();
      close.current();
    };
    const press = (event: MouseEvent) => {
      if (event.target === dialog) close.current();
    };
    dialog.addEventListener("cancel", cancel);
    dialog.addEventListener("mousedown", press);
    return () => {
      dialog.removeEventListener("cancel", cancel);
      dialog.removeEventListener("mousedown", press);
      dialog.close();
    };
  }, []);
  return ref;
}
