import { Link } from "@tanstack/react-router";
import type { Mirror, Pass } from "../../api";
import { Ago, Badge, type Column, grouped, JobBadge } from "../../design";
import styles from "../jobs/columns.module.css";
import { rowsOf, startOf, verdictOf } from "./model";
import { VerdictBadge } from "./Verdict";

export function columnsOf(isAdmin: boolean): Column<Mirror>[] {
  return [
    { id: "name", header: "Mirror", width: 120, grow: 3, phone: true, cell: name },
    ...(isAdmin
      ? [{ id: "owner", header: "Owner", width: 76, wide: true, cell: (row: Mirror) => row.owner }]
      : []),
    {
      id: "streams",
      header: "Streams",
      width: 76,
      grow: 0,
      align: "end",
      cell: (row) => grouped(row.streams.length),
    },
    {
      id: "rows",
      header: "Rows",
      width: 92,
      grow: 0,
      align: "end",
      cell: (row) => grouped(rowsOf(row)),
    },
    {
      id: "state",
      header: "Last pass",
      width: 184,
      phoneWidth: 126,
      grow: 0,
      phone: true,
      cell: (row) => row.newest && <PassState pass={row.newest} />,
    },
    {
      id: "proof",
      header: "Proof",
      width: 156,
      grow: 1,
      cell: (row) => row.newest && <VerdictBadge verdict={verdictOf(row.newest)} />,
    },
    {
      id: "started",
      header: "Started",
      width: 100,
      grow: 0,
      cell: (row) => <Ago at={row.newest && startOf(row.newest)} />,
    },
  ];
}

function name(mirror: Mirror) {
  return (
    <span className={styles.name}>
      <Link to="/mirrors/$mirrorId" params={{ mirrorId: mirror.id }} title={mirror.name}>
        {mirror.name}
      </Link>
    </span>
  );
}

/** The state of the job of a pass. The job may have been deleted. */
export function PassState({ pass: { job } }: { pass: Pass }) {
  if (job) return <JobBadge job={job} />;
  return (
    <Badge tone="cancelled" icon="trash" title="Its complete streams stay in the mirror.">
      Job deleted
    </Badge>
  );
}
