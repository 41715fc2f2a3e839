import { useSyncExternalStore } from "react";

const PHONE = "(max-width: 640px)";

/** Whether there is only room for what matters most. */
export function usePhone(): boolean {
  return useSyncExternalStore(
    (watcher) => {
      const query = matchMedia(PHONE);
      query.addEventListener("change", watcher);
      return () => query.removeEventListener("change", watcher);
    },
    () => matchMedia(PHONE).matches,
  );
}
