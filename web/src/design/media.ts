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
