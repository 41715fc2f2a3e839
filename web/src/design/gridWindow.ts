import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Rows } from "../api/keyset";
import { rebased, windowLength } from "./window";

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
