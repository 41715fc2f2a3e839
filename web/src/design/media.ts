import { useSyncExternalStore } from "react";

const PHONE = "(max-width: 640px)";
const NARROW = "(max-width: 980px)";

/** Whether there is only room for what matters most. */
export function usePhone(): boolean {
  return useMedia(PHONE);
}

/** Whether there is no room for what matters least: a tablet, or a small window. */
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
