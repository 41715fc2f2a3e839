import { useEffect } from "react";
import type { Rows } from "../api/keyset";

const RESTED_MS = 400;

/** Reports the cursor of the top row once scrolling stops. */
export function useTop<T>(
  rows: Rows<T>,
  top: number,
  onTop?: (cursor: string | undefined) => void,
) {
  const cursor = rows.count > 0 ? rows.cursorAt(top) : undefined;
  const isKnown = rows.count > 0;
  useEffect(() => {
    if (!onTop || !isKnown) return;
    const timer = setTimeout(() => onTop(cursor), RESTED_MS);
    return () => clearTimeout(timer);
  }, [onTop, cursor, isKnown]);
}
