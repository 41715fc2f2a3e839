import { type ReactNode, useCallback, useId, useLayoutEffect, useRef, useState } from "react";
import type { Rows } from "../api/keyset";
import styles from "./DataGrid.module.css";
import { type Column, GridHead, GridRow, widthsOf } from "./GridRow";
import { GridTail } from "./GridTail";
import { OVERSCAN, useGridWindow, useShownColumns, useTop } from "./gridModel";
import { useNarrow, usePhone } from "./hooks";
import { useKey } from "./keyboard";
import { ErrorState } from "./States";
import type { Selection } from "./selection";

export type { Column } from "./GridRow";

const ROW_POOL = 64;
const NO_HIDDEN: readonly string[] = [];

interface DataGridProps<T> {
  /** Name of the list for screen readers: "Items of job 7". */
  label: string;
  /** Must keep its identity (module constant or useMemo). */
  columns: readonly Column<T>[];
  rows: Rows<T>;
  rowId: (row: T) => string;
  onOpen?: (row: T, index: number) => void;
  selection?: Selection;
  /** Ids of hidden columns. */
  hidden?: readonly string[];
  /** Keys that act on the active row. */
  rowKeys?: readonly RowKey<T>[];
  empty?: ReactNode;
  /** Number of matching rows, if the server knows it. */
  total?: number | undefined;
  /** Receives the cursor of the page at the top, for the URL. */
  onTop?: (cursor: string | undefined) => void;
}

interface RowKey<T> {
  key: string;
  about: string;
  run: (row: T, index: number) => void;
}

/** A list of any length: only visible rows are in the page. `j` and `k` move, `x` selects. */
export function DataGrid<T>(props: DataGridProps<T>) {
  const { rows, label, empty, selection } = props;
  const id = useId();
  const phone = usePhone();
  const rowHeight = phone ? 48 : 36;
  const narrow = useNarrow();
  const room = { phone, narrow };
  const columns = useShownColumns(props.columns, props.hidden ?? NO_HIDDEN, room);
  const [active, setActive] = useState<number | null>(null);
  const { scroller, virtual, base, first, last } = useGridWindow(rows, rowHeight);
  const shown = virtual.getVirtualItems();
  // Rows that leave the view are reused for rows that enter it, not created again.
  const pool = Math.max(ROW_POOL, shown.length);
  useTop(rows, Math.max(first, Math.min(first + OVERSCAN, last)), props.onTop);

  const { count } = rows;
  const go = (index: number) => {
    const next = Math.max(0, Math.min(index, count - 1));
    setActive(next);
    virtual.scrollToIndex(next - base);
  };
  const activeRow = active === null ? undefined : rows.row(active);
  useKey("j", "Next row", () => go(active === null ? first : active + 1));
  useKey("k", "Previous row", () => go((active ?? 1) - 1));
  const anchor = useRef<number | null>(null);
  const select = useStable(({ index, isRange }: { index: number; isRange: boolean }) => {
    const from = isRange && anchor.current !== null ? anchor.current : index;
    anchor.current = index;
    const chosen = idsBetween(rows, from, index, props.rowId);
    const [one] = chosen;
    if (!selection || one === undefined) return;
    if (from === index) selection.toggle(one);
    else selection.choose(chosen, true);
  });
  useKey("x", selection ? "Select row" : "", () => {
    if (active !== null) select({ index: active, isRange: false });
  });
  useKey("X", selection ? "Select all rows up to here" : "", () => {
    if (active !== null) select({ index: active, isRange: true });
  });
  const open = useStable((index: number) => {
    const row = rows.row(index);
    if (row !== undefined) props.onOpen?.(row, index);
  });
  useKey("Enter", props.onOpen ? "Open row" : "", () => {
    if (active !== null) open(active);
  });

  if (rows.problem && count === 0) return <ErrorState error={rows.problem} retry={rows.retry} />;
  if (rows.complete && count === 0) return <>{empty}</>;
  return (
    <div
      className={styles.frame}
      style={{
        ...widthsOf(columns, { hasCheckbox: selection !== undefined, phone }),
        ...(rows.complete ? fitting(virtual.getTotalSize()) : {}),
      }}
    >
      <div
        ref={scroller}
        className={styles.scroller}
        role="grid"
        aria-label={label}
        aria-rowcount={rows.complete ? count + 1 : -1}
        aria-activedescendant={isIn(active, first, last) ? `${id}-${active}` : undefined}
        aria-multiselectable={selection ? true : undefined}
        tabIndex={0}
        onKeyDown={(event) => {
          if (event.target !== event.currentTarget) return;
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (step) {
            event.preventDefault();
            go((active ?? first - step) + step);
          }
        }}
      >
        <GridHead columns={columns} selection={selection} />
        <div className={styles.body} style={{ height: virtual.getTotalSize() }} role="rowgroup">
          {shown.map(({ index, start }) => (
            <GridRow
              key={(base + index) % pool}
              id={`${id}-${base + index}`}
              index={base + index}
              top={start}
              height={rowHeight}
              row={rows.row(base + index)}
              columns={columns}
              active={active === base + index}
              selected={isSelected(selection, rows.row(base + index), props.rowId)}
              onSelect={selection ? select : undefined}
              onOpen={props.onOpen ? open : undefined}
              onActive={setActive}
            />
          ))}
        </div>
      </div>
      <GridTail rows={rows} total={props.total} />
      {props.rowKeys?.map((each) => (
        <RowShortcut
          key={each.key}
          name={each.key}
          about={each.about}
          run={() => {
            if (active !== null && activeRow) each.run(activeRow, active);
          }}
        />
      ))}
    </div>
  );
}

/** A short list ends at its last row. */
function fitting(rowsHeight: number): object {
  return { "--fit": `calc(${rowsHeight}px + var(--grid-edges))` };
}

function isIn(row: number | null, first: number, last: number): boolean {
  return row !== null && row >= first && row <= last;
}

/** A function with a stable identity that calls the current one, so that rows seldom render. */
function useStable<In>(action: (given: In) => void): (given: In) => void {
  const latest = useRef(action);
  useLayoutEffect(() => {
    latest.current = action;
  });
  return useCallback((given: In) => latest.current(given), []);
}

/** Ids of the rows in a range. Rows that are not loaded are left out. */
function idsBetween<T>(
  rows: Rows<T>,
  one: number,
  other: number,
  id: (row: T) => string,
): string[] {
  const found: string[] = [];
  for (let index = Math.min(one, other); index <= Math.max(one, other); index += 1) {
    const row = rows.row(index);
    if (row !== undefined) found.push(id(row));
  }
  return found;
}

function isSelected<T>(
  selection: Selection | undefined,
  row: T | undefined,
  id: (row: T) => string,
) {
  return selection !== undefined && row !== undefined && selection.has(id(row));
}

function RowShortcut({ name, about, run }: { name: string; about: string; run: () => void }) {
  useKey(name, about, run);
  return null;
}
