import { useLayoutEffect, useRef, useSyncExternalStore } from "react";

/** A key that does something on the page as it is now. */
export interface Shortcut {
  key: string;
  /** What it does, for the list that `?` shows; without, it is not listed. */
  about: string;
  /** It also works while a dialog or a drawer is open. */
  inDialog: boolean;
  run: () => void;
}

class Keyboard {
  #all: readonly Shortcut[] = [];
  #watchers = new Set<() => void>();

  readonly get = () => this.#all;

  readonly subscribe = (watcher: () => void) => {
    this.#watchers.add(watcher);
    return () => {
      this.#watchers.delete(watcher);
    };
  };

  add(shortcut: Shortcut) {
    this.#set([...this.#all, shortcut]);
    return () => this.#set(this.#all.filter((each) => each !== shortcut));
  }

  /** Does what the key stands for; whoever came last goes first. */
  press(event: KeyboardEvent) {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
    const inDialog = document.querySelector("dialog[open]") !== null;
    const found = this.#all.findLast(
      (each) => each.key === event.key && (each.inDialog || !inDialog),
    );
    if (!found) return;
    event.preventDefault();
    found.run();
  }

  #set(all: readonly Shortcut[]) {
    this.#all = all;
    for (const watcher of this.#watchers) watcher();
  }
}

const keyboard = new Keyboard();
globalThis.addEventListener?.("keydown", (event) => keyboard.press(event));

/** Has a key do something for as long as this is shown. */
export function useKey(key: string, about: string, run: () => void, { inDialog = false } = {}) {
  const latest = useRef(run);
  // Before anything is painted: a key must act on what is seen, not on what stood there before.
  useLayoutEffect(() => {
    latest.current = run;
  });
  useLayoutEffect(
    () => keyboard.add({ key, about, inDialog, run: () => latest.current() }),
    [key, about, inDialog],
  );
}

/** Every key that does something now. */
export function useShortcuts(): readonly Shortcut[] {
  return useSyncExternalStore(keyboard.subscribe, keyboard.get);
}

/** Whether the key is meant for what has the focus. */
function isTyping({ key, target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (key === "Enter" && target.matches("a, button, summary, [role=tab]")) return true;
  return target.matches("input:not([type=checkbox], [type=radio]), textarea, select");
}
