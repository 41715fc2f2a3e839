import { getRouteApi } from "@tanstack/react-router";
import { type RowChange, type StreamPlace, useRowChanges } from "../../api";
import { Ago, Badge, type Column, DataGrid, EmptyState } from "../../design";
import { PartialList } from "../../shell/PartialList";
import { useCursor, useFilter } from "../../shell/urlState";
import { KINDS } from "./model";
import { RowDrawer } from "./RowDrawer";

const route = getRouteApi("/frame/mirrors/$mirrorId/streams/$streamId");
const rowId = (change: RowChange) => change.id;

/** The log of changes of a stream, oldest first. */
export function ChangesTab({ place }: { place: StreamPlace }) {
  const { row, after } = route.useSearch();
  const { start, onTop, toStart } = useCursor(place.streamId, after);
  const rows = useRowChanges(place, start);
  const setFilter = useFilter();
  return (
    <>
      <PartialList start={start} toStart={toStart} />
      <DataGrid
        label="Changes"
        columns={COLUMNS}
        rows={rows}
        rowId={rowId}
        onOpen={(change) => setFilter({ row: change.rowId })}
        onTop={onTop}
        empty={
          <EmptyState title="No changes logged">
            <p>
              Rows that a later pass finds changed or restored appear here. To see new and missing
              rows too, compare two passes.
            </p>
          </EmptyState>
        }
      />
      {row && <RowDrawer place={place} rowId={row} onClose={() => setFilter({ row: undefined })} />}
    </>
  );
}

const COLUMNS: Column<RowChange>[] = [
  { id: "kind", header: "Change", width: 124, grow: 0, phone: true, cell: kind },
  { id: "row", header: "Row", width: 120, grow: 3, phone: true, cell: ({ rowId: id }) => id },
  { id: "pass", header: "Pass", width: 80, grow: 0, cell: ({ passId }) => passId },
  {
    id: "at",
    header: "Found",
    width: 100,
    grow: 0,
    phone: true,
    cell: ({ at }) => <Ago at={at} />,
  },
];

function kind({ kind: name }: RowChange) {
  const { label, tone, icon } = KINDS[name];
  return (
    <Badge tone={tone} icon={icon}>
      {label}
    </Badge>
  );
}
