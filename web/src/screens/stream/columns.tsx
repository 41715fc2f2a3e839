import type { MirrorRow } from "../../api";
import { Ago, Badge, type Column, inLine, partsOf } from "../../design";

const MOST_CHARACTERS = 300;

/** Columns of rows; `fields` are shown as one column each. */
export function columnsOf(fields: readonly string[]): Column<MirrorRow>[] {
  return [
    {
      id: "id",
      header: "Id",
      width: 110,
      grow: 1,
      phone: true,
      cell: (row) => <Text value={row.rowId} />,
    },
    ...fields.map((name, index) => ({
      id: `field.${name}`,
      header: name,
      width: 110,
      grow: 2,
      phone: index === 0,
      wide: index > 2,
      cell: (row: MirrorRow) => <Text value={partsOf(row.body)[name]} />,
    })),
    {
      id: "updated",
      header: "Updated at source",
      width: 132,
      grow: 1,
      wide: true,
      cell: (row) => <Text value={row.updated} />,
    },
    {
      id: "changed",
      header: "Changed",
      width: 100,
      grow: 0,
      phone: true,
      cell: changed,
    },
  ];
}

/** A value on one line, cut to fit. */
function Text({ value }: { value: unknown }) {
  const text = inLine(value).slice(0, MOST_CHARACTERS);
  return <span title={text || undefined}>{text || "–"}</span>;
}

function changed({ changedAt, deletedAt }: MirrorRow) {
  if (!deletedAt) return <Ago at={changedAt} />;
  return (
    <Badge tone="error" icon="trash">
      Deleted
    </Badge>
  );
}
