import { useLayoutEffect, useRef, useSyncExternalStore } from "react";

/** A keyboard shortcut of the current page. */
export interface Shortcut {
  key: string;
  /** Description in the list that `?` shows; without it, the key is not listed. */
  about: string;
  /** Also works while a dialog or a drawer is open. */
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

  /** Runs the shortcut of a key; the newest one wins. */
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

/** Registers a shortcut while the component is mounted. */
export function useKey(key: string, about: string, run: () => void, { inDialog = false } = {}) {
  const latest = useRef(run);
  // Before painting: a key must act on what is visible, not on what was there before.
  useLayoutEffect(() => {
    latest.current = run;
  });
  useLayoutEffect(
    () => keyboard.add({ key, about, inDialog, run: () => latest.current() }),
    [key, about, inDialog],
  );
}

export function useShortcuts(): readonly Shortcut[] {
  return useSyncExternalStore(keyboard.subscribe, keyboard.get);
}

/** True if the focused element needs the key itself. */
function isTyping({ key, target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (key === "Enter" && target.matches("a, button, summary, [role=tab]")) return true;
  return target.matches("input:not([type=checkbox], [type=radio]), textarea, select");
}
