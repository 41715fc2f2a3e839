import { type RefObject, useEffect, useRef } from "react";

const ASKED = "form :is(input, select, textarea, button)";

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
    dialog.querySelector<HTMLElement>(ASKED)?.focus();
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
