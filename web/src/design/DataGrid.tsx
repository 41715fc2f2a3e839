import {
  type ColumnDef,
  columnVisibilityFeature,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type ReactNode,
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import type { Rows } from "../api/keyset";
import styles from "./DataGrid.module.css";
import { ErrorState } from "./ErrorState";
import { type Column, GridRow, widthsOf } from "./GridRow";
import { useKey } from "./keyboard";
import { usePhone } from "./media";
import { grouped } from "./numbers";
import type { Selection } from "./selection";
import { rebased, windowLength } from "./window";

export type { Column } from "./GridRow";

const OVERSCAN = 8;
const SKELETONS = 12;
const POOL = 64;
const features = tableFeatures({ columnVisibilityFeature });
const NO_DATA: never[] = [];
const NO_HIDDEN: readonly string[] = [];

export interface DataGridProps<T> {
  /** What is listed, for those who listen: "Items of job 7". */
  label: string;
  /** Must keep its identity (module constant or useMemo). */
  columns: readonly Column<T>[];
  rows: Rows<T>;
  rowId: (row: T) => string;
  /** Enter or a click on a row. */
  onOpen?: (row: T, index: number) => void;
  selection?: Selection;
  /** Columns that are switched off, by id. */
  hidden?: readonly string[];
  /** Keys that do something with the row that `j` and `k` have come to. */
  rowKeys?: readonly RowKey<T>[];
  /** Shown instead of rows when there are none. */
  empty?: ReactNode;
  /** How many there are in all, where the server knows. */
  total?: number | undefined;
  /** Hears the cursor of the page at the top, for the URL. */
  onTop?: (cursor: string | undefined) => void;
}

export interface RowKey<T> {
  key: string;
  /** What it does, for the list that `?` shows. */
  about: string;
  run: (row: T, index: number) => void;
}

/** A list of any length: only what is in sight is in the page. `j` `k` move, `x` selects. */
export function DataGrid<T>(props: DataGridProps<T>) {
  const { rows, label, empty, selection } = props;
  const id = useId();
  const phone = usePhone();
  const rowHeight = phone ? 48 : 36;
  const columns = useShownColumns(props.columns, props.hidden ?? NO_HIDDEN, phone);
  const scroller = useRef<HTMLDivElement>(null);
  const [base, setBase] = useState(0);
  const [active, setActive] = useState<number | null>(null);

  const waiting = rows.complete || rows.problem ? 0 : rows.count === 0 ? SKELETONS : 1;
  const virtual = useVirtualizer({
    count: windowLength(rows.count + waiting, base),
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
  });
  const shown = virtual.getVirtualItems();
  // Rows that leave the view are drawn over for those that come into it, not made anew.
  const pool = Math.max(POOL, shown.length);
  const first = base + (shown[0]?.index ?? 0);
  const last = base + (shown.at(-1)?.index ?? 0);

  const { show, count } = rows;
  useEffect(() => show(first, last), [show, first, last]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: sizes are known anew with the height
  useLayoutEffect(() => virtual.measure(), [virtual, rowHeight]);
  useLayoutEffect(() => {
    const next = rebased(base, first - base, count);
    if (next === base || !scroller.current) return;
    scroller.current.scrollTop -= (next - base) * rowHeight;
    setBase(next);
  }, [base, first, count, rowHeight]);
  useTop(rows, Math.max(first, Math.min(first + OVERSCAN, last)), props.onTop);

  const go = (index: number) => {
    const next = Math.max(0, Math.min(index, count - 1));
    setActive(next);
    virtual.scrollToIndex(next - base);
  };
  const activeRow = active === null ? undefined : rows.row(active);
  useKey("j", "Next row", () => go(active === null ? first : active + 1));
  useKey("k", "Previous row", () => go((active ?? 1) - 1));
  useKey("x", selection ? "Select the row" : "", () => {
    if (activeRow) selection?.toggle(props.rowId(activeRow));
  });
  const open = useStable((index: number) => {
    const row = rows.row(index);
    if (row !== undefined) props.onOpen?.(row, index);
  });
  const select = useStable((rowId: string) => selection?.toggle(rowId));

  useKey("Enter", props.onOpen ? "Open the row" : "", () => {
    if (active !== null) open(active);
  });

  if (rows.problem && count === 0) return <ErrorState error={rows.problem} retry={rows.retry} />;
  if (rows.complete && count === 0) return <>{empty}</>;
  return (
    <div className={styles.frame} style={widthsOf(columns, selection !== undefined)}>
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
        <div role="row" aria-rowindex={1} className={styles.head}>
          {selection && (
            <span role="columnheader" className={styles.check}>
              <input
                type="checkbox"
                aria-label="Select all that match"
                checked={selection.everything && selection.ids.size === 0}
                onChange={() => (selection.everything ? selection.clear() : selection.selectAll())}
              />
            </span>
          )}
          {columns.map((column) => (
            <span key={column.id} role="columnheader" className={styles[column.align ?? "start"]}>
              {column.header}
            </span>
          ))}
        </div>
        <div className={styles.body} style={{ height: virtual.getTotalSize() }} role="rowgroup">
          {shown.map(({ index, start }) => (
            <GridRow
              key={(base + index) % pool}
              id={`${id}-${base + index}`}
              index={base + index}
              top={start}
              height={rowHeight}
              row={rows.row(base + index)}
              rowId={props.rowId}
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
      <Tail rows={rows} total={props.total} />
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

function isIn(row: number | null, first: number, last: number): boolean {
  return row !== null && row >= first && row <= last;
}

/** A function that stays the same one, and does what it would do now: rows are drawn rarely. */
function useStable<In>(deed: (given: In) => void): (given: In) => void {
  const latest = useRef(deed);
  useLayoutEffect(() => {
    latest.current = deed;
  });
  return useCallback((given: In) => latest.current(given), []);
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

/** How far the list goes. */
function Tail<T>({ rows, total }: { rows: Rows<T>; total: number | undefined }) {
  const known = grouped(rows.count);
  let words = `All ${known} rows`;
  if (rows.count === 1 && rows.complete) words = "1 row";
  if (!rows.complete) {
    words = total === undefined ? `${known} rows so far` : `${known} of ${grouped(total)} rows`;
  }
  return (
    <p className={styles.tail}>
      {rows.problem ? (
        <button type="button" onClick={rows.retry}>
          {rows.problem.detail} Try again
        </button>
      ) : (
        words
      )}
    </p>
  );
}

/** Columns that are shown: those that are not switched off, and on a phone those that matter. */
function useShownColumns<T>(
  columns: readonly Column<T>[],
  hidden: readonly string[],
  phone: boolean,
): readonly Column<T>[] {
  const defs = useMemo(
    () => columns.map((column): ColumnDef<typeof features, object> => ({ ...column, cell: "" })),
    [columns],
  );
  const columnVisibility = useMemo(
    () =>
      Object.fromEntries(
        columns.map(({ id, phone: onPhone }) => [
          id,
          !hidden.includes(id) && (!phone || onPhone === true),
        ]),
      ),
    [columns, hidden, phone],
  );
  const table = useTable({ features, columns: defs, data: NO_DATA, state: { columnVisibility } });
  const ids = table.getVisibleLeafColumns().map((column) => column.id);
  const names = ids.join("\n");
  return useMemo(
    () => columns.filter((column) => names.split("\n").includes(column.id)),
    [columns, names],
  );
}

const RESTED_MS = 400;

/** Tells the cursor at the top once the scrolling rests. */
function useTop<T>(rows: Rows<T>, top: number, told?: (cursor: string | undefined) => void) {
  const cursor = rows.count > 0 ? rows.cursorAt(top) : undefined;
  const isKnown = rows.count > 0;
  useEffect(() => {
    if (!told || !isKnown) return;
    const timer = setTimeout(() => told(cursor), RESTED_MS);
    return () => clearTimeout(timer);
  }, [told, cursor, isKnown]);
}
