import {
  type ColumnDef,
  columnVisibilityFeature,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { useMemo } from "react";
import type { Column } from "./GridRow";

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
