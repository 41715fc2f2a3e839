import { Link } from "@tanstack/react-router";
import { type Job, settled } from "../../api";
import { Age, type Column, grouped, JobBadge, ProgressBar } from "../../design";
import styles from "./columns.module.css";
import { JobActions } from "./JobActions";
import { leftOf, limitOf, rateOf } from "./model";

export function columnsOf({ mayWrite, isAdmin }: { mayWrite: boolean; isAdmin: boolean }) {
  const columns: Column<Job>[] = [
    { id: "name", header: "Job", width: 132, grow: 4, phone: true, cell: name },
    ...(isAdmin
      ? [{ id: "owner", header: "Owner", width: 76, wide: true, cell: (job: Job) => job.owner }]
      : []),
    { id: "handler", header: "Type", width: 104, grow: 1, wide: true, cell: (job) => job.handler },
    {
      id: "state",
      header: "State",
      width: 184,
      phoneWidth: 126,
      grow: 0,
      phone: true,
      cell: state,
    },
    { id: "progress", header: "Progress", width: 112, grow: 3, cell: progress },
    { id: "rate", header: "Rate", width: 82, grow: 0, wide: true, align: "end", cell: rateOf },
    { id: "eta", header: "Time left", width: 88, grow: 1, cell: eta },
    { id: "limit", header: "Limited by", width: 132, grow: 3, cell: limit },
    {
      id: "age",
      header: "Age",
      width: 68,
      grow: 0,
      wide: true,
      cell: (job) => <Age at={job.createdAt} />,
    },
  ];
  if (mayWrite) {
    columns.push({
      id: "actions",
      header: "Actions",
      hideHeader: true,
      width: 52,
      grow: 0,
      align: "end",
      phone: true,
      cell: (job) => <JobActions key={job.id} job={job} />,
    });
  }
  return columns;
}

function name(job: Job) {
  return (
    <span className={styles.name}>
      <Link to="/jobs/$jobId" params={{ jobId: job.id }} title={job.name}>
        {job.name || `Job ${job.id}`}
      </Link>
      <span className={styles.onPhone}>
        <ProgressBar counts={job.counts} />
      </span>
    </span>
  );
}

function state(job: Job) {
  const why = job.state === "FAILED" ? job.lastError : job.pauseReason;
  return (
    <span title={why ?? undefined}>
      <JobBadge job={job} />
    </span>
  );
}

function progress(job: Job) {
  return (
    <span className={styles.progress}>
      <ProgressBar counts={job.counts} />
      <span className={styles.share}>
        {grouped(settled(job.counts))} / {grouped(job.counts.total)}
      </span>
    </span>
  );
}

function eta(job: Job) {
  if (!job.eta && job.state !== "PAUSED") return "–";
  return <span title={leftOf(job)}>{leftOf(job)}</span>;
}

function limit(job: Job) {
  if (!job.limitedBy && job.state !== "PAUSED") return "–";
  const { where, why } = limitOf(job);
  return (
    <span className={styles.limit} title={job.limitedBy?.why ?? why}>
      {where && <span>{where}</span>}
      <span>{why}</span>
    </span>
  );
}
