import type { Item } from "../../../api";
import { Ago, type Column, grouped, inLine, partsOf, StatusBadge } from "../../../design";
import type { Offer } from "./model";

export type GridColumn = Column<Item> & Offer;

const MOST_SHOWN = 4;

export function columnsOf(names: readonly string[]): GridColumn[] {
  return [
    {
      id: "line",
      header: "Line",
      width: 72,
      grow: 0,
      align: "end",
      isShown: false,
      cell: (item) => grouped(item.line),
    },
    { id: "key", header: "Key", width: 110, grow: 2, phone: true, isShown: true, cell: key },
    {
      id: "status",
      header: "Status",
      width: 124,
      grow: 0,
      phone: true,
      isShown: true,
      cell: (item) => <StatusBadge status={item.status} />,
    },
    {
      id: "summary",
      header: "Row",
      width: 140,
      grow: 3,
      isShown: names.length < 3,
      cell: (item) => <Copied text={item.summary} />,
    },
    ...names.map((name, index) => ({
      id: `result.${name}`,
      header: name,
      width: 110,
      grow: 2,
      isShown: index < MOST_SHOWN,
      cell: (item: Item) => <Copied text={inLine(partsOf(item.result)[name])} />,
    })),
    {
      id: "result",
      header: "Whole result",
      width: 160,
      grow: 4,
      isShown: false,
      cell: (item) => <Copied text={inLine(item.result)} />,
    },
    { id: "error", header: "Reason", width: 140, grow: 3, isShown: true, cell: reason },
    {
      id: "attempts",
      header: "Attempts",
      width: 88,
      grow: 0,
      align: "end",
      isShown: true,
      cell: (item) => grouped(item.attempts),
    },
    {
      id: "updated",
      header: "Changed",
      width: 104,
      grow: 0,
      isShown: true,
      cell: (item) => <Ago at={item.updatedAt} />,
    },
  ];
}

function key(item: Item) {
  return <Copied text={item.key} />;
}

function reason(item: Item) {
  const text = item.lastError ?? "";
  return <Copied text={item.errorClass ? `${item.errorClass}: ${text}` : text} />;
}

const MOST_CHARACTERS = 300;

/** Text of a cell, cut to fit; the whole text can be copied. */
function Copied({ text }: { text: string }) {
  return (
    <span data-copy={text} title={text.slice(0, MOST_CHARACTERS)}>
      {text.slice(0, MOST_CHARACTERS)}
    </span>
  );
}
