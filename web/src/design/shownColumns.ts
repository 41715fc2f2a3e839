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

/** Columns that are shown: those that are not switched off, and on a phone those that matter. */
export function useShownColumns<T>(
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
