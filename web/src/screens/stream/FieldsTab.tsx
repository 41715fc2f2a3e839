import { useMemo } from "react";
import { type FieldOfRows, listed, type StreamPlace, useStreamFields } from "../../api";
import { Badge, type Column, DataGrid, EmptyState } from "../../design";
import { isLater, isMixed } from "./model";
import { PassLink } from "./RowDrawer";

const rowId = (field: FieldOfRows) => field.name;

/** The fields that rows have had. Fields that came later or have several types are marked. */
export function FieldsTab({ place }: { place: StreamPlace }) {
  const fields = useStreamFields(place);
  const columns = useMemo(
    () => columnsOf(fields.data ?? [], place.mirrorId),
    [fields.data, place.mirrorId],
  );
  return (
    <DataGrid
      label="Fields"
      columns={columns}
      rows={listed(fields.data, fields)}
      rowId={rowId}
      empty={
        <EmptyState title="No fields seen yet">
          <p>Fields appear here with the first rows.</p>
        </EmptyState>
      }
    />
  );
}

function columnsOf(fields: readonly FieldOfRows[], mirrorId: string): Column<FieldOfRows>[] {
  return [
    { id: "name", header: "Field", width: 120, grow: 2, phone: true, cell: ({ name }) => name },
    {
      id: "types",
      header: "Types",
      width: 120,
      grow: 2,
      phone: true,
      cell: ({ types }) => types.join(", "),
    },
    {
      id: "first",
      header: "First seen",
      width: 92,
      grow: 0,
      cell: ({ firstPass }) => <PassLink mirrorId={mirrorId} passId={firstPass} />,
    },
    {
      id: "drift",
      header: "Drift",
      width: 132,
      grow: 1,
      phone: true,
      cell: (field) => drift(field, fields),
    },
  ];
}

function drift(field: FieldOfRows, fields: readonly FieldOfRows[]) {
  if (isMixed(field)) {
    return (
      <Badge tone="warn" icon="warn" title="Values of this field have different types.">
        Several types
      </Badge>
    );
  }
  if (isLater(field, fields)) {
    return (
      <Badge tone="processing" icon="plus" title="The first pass did not have this field.">
        New field
      </Badge>
    );
  }
  return "–";
}
