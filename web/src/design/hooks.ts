import { useSyncExternalStore } from "react";

const PHONE = "(max-width: 640px)";
const NARROW = "(max-width: 980px)";

/** True on a phone. */
export function usePhone(): boolean {
  return useMedia(PHONE);
}

/** True on a tablet or in a small window. */
export function useNarrow(): boolean {
  return useMedia(NARROW);
}

function useMedia(which: string): boolean {
  return useSyncExternalStore(
    (watcher) => {
      const query = matchMedia(which);
      query.addEventListener("change", watcher);
      return () => query.removeEventListener("change", watcher);
    },
    () => matchMedia(which).matches,
  );
}

/** One clock for all ages and countdowns; it stops while the page is hidden. */
class Ticker {
  #now = Date.now();
  #watchers = new Set<() => void>();
  #timer: ReturnType<typeof setInterval> | undefined;

  readonly get = () => this.#now;

  readonly subscribe = (watcher: () => void) => {
    if (this.#watchers.size === 0) {
      this.#now = Date.now();
      this.#timer = setInterval(() => this.#tick(), 1_000);
    }
    this.#watchers.add(watcher);
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) clearInterval(this.#timer);
    };
  };

  #tick() {
    this.#now = Date.now();
    for (const watcher of this.#watchers) watcher();
  }
}

const ticker = new Ticker();

/** The time in ms since 1970, updated every second. */
export function useNow(): number {
  return useSyncExternalStore(ticker.subscribe, ticker.get);
}
