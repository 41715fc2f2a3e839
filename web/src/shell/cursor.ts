import { useNavigate } from "@tanstack/react-router";
import { useCallback, useState } from "react";

/**
 * The start of a list that a link may point into. `after` is the cursor in the URL when the page
 * opens; scrolling updates it there without reloading, and a new filter drops it.
 */
export function useCursor(filter: string, after: string | undefined) {
  const navigate = useNavigate();
  const [begun, setBegun] = useState({ filter, start: after });
  const start = begun.filter === filter ? begun.start : undefined;
  if (begun.filter !== filter) setBegun({ filter, start: undefined });

  const onTop = useCallback(
    (cursor: string | undefined) => {
      if (cursor === after) return;
      void navigate({
        to: ".",
        search: (old: object) => ({ ...old, after: cursor }),
        replace: true,
        resetScroll: false,
      });
    },
    [navigate, after],
  );
  const toStart = useCallback(() => {
    setBegun({ filter, start: undefined });
    onTop(undefined);
  }, [filter, onTop]);
  return { start, onTop, toStart };
}
