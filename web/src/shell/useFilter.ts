import { useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";

/** Parameters that do not change which rows are listed. */
const BESIDE = ["item", "columns"];

/**
 * Changes search parameters. A cursor belongs to its filter and is dropped with it. `push` adds a
 * history entry: for drawers and tabs, not for filters.
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
