import { Link } from "@tanstack/react-router";
import { type Item, type OldestOfJob, settled } from "../../api";
import { Ago, type Column, grouped, ProgressBar, percent, StatusBadge } from "../../design";
import { waiting } from "../job/pendingColumns";
import styles from "./columns.module.css";

export function columnsOf(jobs: ReadonlyMap<string, OldestOfJob>, ofAll: boolean): Column<Item>[] {
  return [
    { id: "id", header: "Item", width: 72, grow: 0, wide: true, cell: (item) => item.id },
    { id: "summary", header: "Row", width: 108, grow: 4, phone: true, cell: title },
    {
      id: "status",
      header: "Status",
      width: 112,
      grow: 0,
      phone: true,
      cell: (item) => <StatusBadge status={item.status} />,
    },
    { id: "waiting", header: "Waiting for", width: 130, grow: 6, cell: waiting },
    {
      id: "attempts",
      header: "Attempts",
      width: 84,
      grow: 0,
      wide: true,
      align: "end",
      cell: (item) => grouped(item.attempts),
    },
    {
      id: "locked",
      header: "Worker",
      width: 110,
      grow: 2,
      wide: true,
      cell: (item) => <span title={item.lockedBy ?? undefined}>{item.lockedBy ?? "–"}</span>,
    },
    {
      id: "updated",
      header: "Updated",
      width: 94,
      grow: 0,
      phone: true,
      cell: (item) => <Ago at={item.updatedAt} />,
    },
    { id: "type", header: "Type", width: 104, grow: 1, cell: type },
    { id: "job", header: "Job", width: 110, grow: 3, cell: (item) => job(item, jobs) },
    ...(ofAll
      ? [{ id: "owner", header: "Owner", width: 72, wide: true, cell: (item: Item) => item.owner }]
      : []),
    {
      id: "progress",
      header: "Job progress",
      width: 132,
      grow: 0,
      wide: true,
      cell: (item) => progress(jobs.get(item.jobId)),
    },
  ];
}

function title({ summary, key }: Item) {
  return <span title={key}>{summary || key}</span>;
}

export function type({ handler }: { handler: string }) {
  return (
    <span className={styles.chip} title={handler}>
      {handler}
    </span>
  );
}

function job({ jobId }: Item, jobs: ReadonlyMap<string, OldestOfJob>) {
  const name = jobs.get(jobId)?.name;
  return (
    <Link
      to="/jobs/$jobId"
      params={{ jobId }}
      title={`Go to job ${jobId}${name ? `: ${name}` : ""}`}
    >
      {jobId}
      {name ? ` · ${name}` : ""}
    </Link>
  );
}

function progress(found: OldestOfJob | undefined) {
  if (!found) return "–";
  const { counts } = found;
  return (
    <span className={styles.pill}>
      <ProgressBar counts={counts} />
      <span>{percent(counts.total ? settled(counts) / counts.total : 0)}</span>
    </span>
  );
}
