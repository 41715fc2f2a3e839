import {
  type ColumnDef,
  columnVisibilityFeature,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Rows } from "../api/keyset";
import type { Column } from "./GridRow";

/**
 * Browsers draw nothing below some 16 to 33 million pixels, so a long list is shown in windows of
 * this many rows.
 */
export const WINDOW_ROWS = 200_000;
export const SHIFT_ROWS = 100_000;

/** Number of rows in the window that starts at `base`. */
export function windowLength(count: number, base: number): number {
  return Math.max(0, Math.min(count - base, WINDOW_ROWS));
}

/** The start of the window to show when its row `first` is at the top. */
export function rebased(base: number, first: number, count: number): number {
  const isNearEnd = first > WINDOW_ROWS - SHIFT_ROWS / 2 && count - base > WINDOW_ROWS;
  if (isNearEnd) return base + SHIFT_ROWS;
  if (first < SHIFT_ROWS / 4 && base > 0) return Math.max(0, base - SHIFT_ROWS);
  return base;
}

export const OVERSCAN = 8;
const SKELETONS = 12;

/** The visible rows of a list of any length, and the element that scrolls them. */
export function useGridWindow<T>(rows: Rows<T>, rowHeight: number) {
  const scroller = useRef<HTMLDivElement>(null);
  const [base, setBase] = useState(0);
  const waiting = rows.complete || rows.problem ? 0 : rows.count === 0 ? SKELETONS : 1;
  const virtual = useVirtualizer({
    count: windowLength(rows.count + waiting, base),
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
  });
  const shown = virtual.getVirtualItems();
  const first = base + (shown[0]?.index ?? 0);
  const last = base + (shown.at(-1)?.index ?? 0);

  const { show, count } = rows;
  useEffect(() => show(first, last), [show, first, last]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: sizes change with the height
  useLayoutEffect(() => virtual.measure(), [virtual, rowHeight]);
  useLayoutEffect(() => {
    const next = rebased(base, first - base, count);
    if (next === base || !scroller.current) return;
    scroller.current.scrollTop -= (next - base) * rowHeight;
    setBase(next);
  }, [base, first, count, rowHeight]);
  return { scroller, virtual, base, first, last };
}

const SCROLL_END_MS = 400;

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
    const timer = setTimeout(() => onTop(cursor), SCROLL_END_MS);
    return () => clearTimeout(timer);
  }, [onTop, cursor, isKnown]);
}

const features = tableFeatures({ columnVisibilityFeature });
const NO_DATA: never[] = [];

/** Columns that are not hidden and for which there is room. */
export function useShownColumns<T>(
  columns: readonly Column<T>[],
  hidden: readonly string[],
  { phone, narrow }: { phone: boolean; narrow: boolean },
): readonly Column<T>[] {
  const defs = useMemo(
    () => columns.map((column): ColumnDef<typeof features, object> => ({ ...column, cell: "" })),
    [columns],
  );
  const columnVisibility = useMemo(
    () =>
      Object.fromEntries(
        columns.map(({ id, phone: onPhone, wide }) => [
          id,
          !hidden.includes(id) && (!phone || onPhone === true) && (!narrow || wide !== true),
        ]),
      ),
    [columns, hidden, phone, narrow],
  );
  const table = useTable({ features, columns: defs, data: NO_DATA, state: { columnVisibility } });
  const ids = table.getVisibleLeafColumns().map((column) => column.id);
  const names = ids.join("\n");
  return useMemo(
    () => columns.filter((column) => names.split("\n").includes(column.id)),
    [columns, names],
  );
}
