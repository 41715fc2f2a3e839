import { useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";

/** What does not change which rows there are. */
const BESIDE = ["item", "columns"];

/**
 * Changes what stands in the URL; a place in a list belongs to its filter and goes with it. With
 * `push` the way back leads to what was before: for drawers and tabs, not for filters.
 */
export function useFilter() {
  const navigate = useNavigate();
  return useCallback(
    (change: Record<string, string | undefined>, { push = false } = {}) => {
      const isBeside = Object.keys(change).every((name) => BESIDE.includes(name));
      void navigate({
        to: ".",
        search: (old: object) => ({ ...old, ...(isBeside ? {} : { after: undefined }), ...change }),
        replace: !push,
      });
    },
    [navigate],
  );
}
