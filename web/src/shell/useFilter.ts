import { useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";

/** Changes what stands in the URL; the place in a list belongs to the old filter and goes. */
export function useFilter(): (change: Record<string, string | undefined>) => void {
  const navigate = useNavigate();
  return useCallback(
    (change) =>
      void navigate({
        to: ".",
        search: (old: object) => ({ ...old, after: undefined, ...change }),
        replace: true,
      }),
    [navigate],
  );
}
