import { useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";

/** Opens an item in the drawer; the list keeps its position. */
export function useOpenItem(): (itemId: string | undefined) => void {
  const navigate = useNavigate();
  return useCallback(
    (itemId) =>
      void navigate({
        to: ".",
        search: (old: object) => ({ ...old, item: itemId }),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
}
