import { memo, type ReactNode } from "react";
import styles from "./DataGrid.module.css";
import { classes } from "./format";
import { Skeleton } from "./States";
import type { Selection } from "./selection";

/** The column headers, and the checkbox that selects all matching rows. */
export function GridHead<T>({
  columns,
  selection,
}: {
  columns: readonly Column<T>[];
  selection: Selection | undefined;
}) {
  return (
    <div role="row" aria-rowindex={1} className={styles.head}>
      {selection && (
        <span role="columnheader" className={styles.check}>
          <input
            type="checkbox"
            aria-label="Select all matching rows"
            title="Select all matching rows, including rows not loaded"
            checked={selection.everything && selection.ids.size === 0}
            onChange={() => (selection.everything ? selection.clear() : selection.selectAll())}
          />
        </span>
      )}
      {columns.map((column) => (
        <span key={column.id} role="columnheader" className={styles[column.align ?? "start"]}>
          {column.hideHeader ? <span className="unseen">{column.header}</span> : column.header}
        </span>
      ))}
    </div>
  );
}

export interface Column<T> {
  id: string;
  header: string;
  /** Shows the header only to screen readers. */
  hideHeader?: boolean;
  cell: (row: T) => ReactNode;
  /** Minimum width in pixels. */
  width?: number;
  /** Share of the remaining width; 0: fixed width. */
  grow?: number;
  /** Numbers are aligned to the end. */
  align?: "start" | "end";
  /** Shown on a phone too. */
  phone?: boolean;
  /** Width on a phone in pixels, if it differs. */
  phoneWidth?: number;
  /** Shown only in a wide window. */
  wide?: boolean;
}

interface GridRowProps<T> {
  id: string;
  index: number;
  top: number;
  height: number;
  row: T | undefined;
  columns: readonly Column<T>[];
  active: boolean;
  selected: boolean;
  /** `isRange`: selects all rows from the one that was selected before. */
  onSelect: ((chosen: { index: number; isRange: boolean }) => void) | undefined;
  onOpen: ((index: number) => void) | undefined;
  onActive: (index: number) => void;
}

function Row<T>(props: GridRowProps<T>) {
  const { row, columns, index, onSelect, selected } = props;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on the grid opens the active row
    <div
      id={props.id}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={onSelect ? selected : undefined}
      data-active={props.active || undefined}
      className={classes(styles.row, props.onOpen && styles.opens)}
      style={{ transform: `translateY(${props.top}px)`, height: props.height }}
      onMouseDown={(event) => {
        // Otherwise the browser selects the text between two clicks.
        if (event.shiftKey && onSelect) event.preventDefault();
      }}
      onClick={(event) => {
        props.onActive(index);
        if (isControl(event.target)) return;
        if (event.shiftKey && onSelect) onSelect({ index, isRange: true });
        else props.onOpen?.(index);
      }}
    >
      {onSelect && (
        <span role="gridcell" className={styles.check}>
          {row !== undefined && (
            <input
              type="checkbox"
              aria-label="Select"
              checked={selected}
              onChange={({ nativeEvent }) =>
                onSelect({ index, isRange: (nativeEvent as MouseEvent).shiftKey === true })
              }
            />
          )}
        </span>
      )}
      {columns.map((column) => (
        <span key={column.id} role="gridcell" className={styles[column.align ?? "start"]}>
          {row === undefined ? <Skeleton /> : column.cell(row)}
        </span>
      ))}
    </div>
  );
}

/** One row; renders again only when it changes. */
export const GridRow = memo(Row, isSame) as typeof Row;

function isSame<T>(old: GridRowProps<T>, now: GridRowProps<T>): boolean {
  const names: (keyof GridRowProps<T>)[] = [
    "row",
    "top",
    "height",
    "columns",
    "active",
    "selected",
    "index",
  ];
  return names.every((name) => old[name] === now[name]);
}

/** True if a click was meant for a control inside the row. */
function isControl(target: EventTarget): boolean {
  return (
    target instanceof Element &&
    target.closest("a, button, input, label, dialog, [popover]") !== null
  );
}

const CHECKBOX = 40;

/** CSS widths of the columns, and their minimum sum. */
export function widthsOf<T>(
  columns: readonly Column<T>[],
  { hasCheckbox, phone }: { hasCheckbox: boolean; phone: boolean },
) {
  const first: { width: number; grow: number }[] = hasCheckbox
    ? [{ width: CHECKBOX, grow: 0 }]
    : [];
  const given = columns.map(({ width = 96, phoneWidth = width, grow = 1 }) => ({
    width: phone ? phoneWidth : width,
    grow,
  }));
  const all = [...first, ...given];
  const tracks = all.map(({ width, grow }) =>
    grow ? `minmax(${width}px, ${grow}fr)` : `${width}px`,
  );
  const least = all.reduce((sum, { width }) => sum + width, 0);
  return { "--columns": tracks.join(" "), "--least": `${least}px` } as object;
}
