import { Link } from "@tanstack/react-router";
import type { Item } from "../../api";
import { Ago, Badge, type Column, grouped } from "../../design";
import { type } from "../pending/columns";
import { classInWords } from "./model";

/** `jobs` maps ids to names. */
export function columnsOf(isAdmin: boolean, jobs: ReadonlyMap<string, string>): Column<Item>[] {
  return [
    { id: "id", header: "Item", width: 72, grow: 0, wide: true, cell: (item) => item.id },
    { id: "summary", header: "Title", width: 108, grow: 3, phone: true, cell: title },
    { id: "class", header: "Class", width: 148, grow: 0, phone: true, cell: errorClass },
    { id: "error", header: "What went wrong", width: 160, grow: 6, cell: lastError },
    {
      id: "attempts",
      header: "Attempts",
      width: 84,
      grow: 0,
      wide: true,
      align: "end",
      cell: (item) => grouped(item.attempts),
    },
    { id: "type", header: "Type", width: 112, grow: 1, wide: true, cell: type },
    { id: "job", header: "Job", width: 120, grow: 3, cell: (item) => job(item, jobs) },
    ...(isAdmin
      ? [
          {
            id: "owner",
            header: "Owner",
            width: 76,
            grow: 0,
            wide: true,
            cell: (item: Item) => item.owner,
          },
        ]
      : []),
    {
      id: "died",
      header: "Failed at",
      width: 94,
      grow: 0,
      phone: true,
      cell: (item) => <Ago at={item.updatedAt} />,
    },
  ];
}

function title({ summary, key }: Item) {
  return <span title={key}>{summary || key}</span>;
}

export function errorClass({ errorClass: name }: Item) {
  return (
    <Badge tone="error" icon="cross" title={classInWords(name ?? "")}>
      {name ?? "error"}
    </Badge>
  );
}

export function lastError({ lastError: reason }: Item) {
  return <span title={reason ?? undefined}>{reason ?? "–"}</span>;
}

function job({ jobId }: Item, jobs: ReadonlyMap<string, string>) {
  const name = jobs.get(jobId) || `Job ${jobId}`;
  return (
    <Link to="/jobs/$jobId" params={{ jobId }} title={`Go to job ${jobId}: ${name}`}>
      {name}
    </Link>
  );
}
