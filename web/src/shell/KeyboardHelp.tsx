import { useState } from "react";
import { Button, Dialog, Key, useKey } from "../design";
import { useShortcuts } from "../design/keyboard";
import styles from "./KeyboardHelp.module.css";

/** The list of shortcuts that `?` opens. */
export function KeyboardHelp() {
  const [isOpen, setOpen] = useState(false);
  useKey("?", "Show keyboard shortcuts", () => setOpen(true));
  useKey("/", "Search", () => searchField()?.focus());
  return (
    <>
      <Button
        variant="quiet"
        icon="keyboard"
        aria-label="Keyboard shortcuts"
        className={styles.button}
        onClick={() => setOpen(true)}
      />
      {isOpen && (
        <Dialog title="Keyboard shortcuts" onClose={() => setOpen(false)}>
          <Keys />
        </Dialog>
      )}
    </>
  );
}

/** The search field of the screen, if it has one. */
function searchField(): HTMLElement | null {
  return document.querySelector<HTMLElement>('[data-key="/"]');
}

function Keys() {
  const listed = new Map(
    useShortcuts()
      .filter(({ key, about }) => about && (key !== "/" || searchField() !== null))
      .map(({ key, about }) => [key, about]),
  );
  return (
    <dl className={styles.keys}>
      {[...listed].map(([key, about]) => (
        <div key={key}>
          <dt>
            <Key>{key}</Key>
          </dt>
          <dd>{about}</dd>
        </div>
      ))}
      <div>
        <dt>
          <Key>Esc</Key>
        </dt>
        <dd>Close</dd>
      </div>
    </dl>
  );
}
