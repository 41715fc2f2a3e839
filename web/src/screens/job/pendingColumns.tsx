import type { Item } from "../../api";
import { Ago, type Column, grouped, Icon, type IconName, StatusBadge } from "../../design";
import { causeOf } from "../jobs/model";
import styles from "./pendingColumns.module.css";

const KINDS: Record<string, IconName> = {
  paused: "pause",
  reading: "upload",
  worker: "worker",
  breaker: "warn",
  provider_paused: "pause",
  refused: "gate",
  budget: "gate",
  rate: "gate",
  cap: "gate",
  deferred: "clock",
  retry: "repeat",
  turn: "jobs",
  handler: "play",
  running: "play",
};

/** Columns of open items. */
export const PENDING_COLUMNS: Column<Item>[] = [
  { id: "key", header: "Key", width: 100, grow: 2, phone: true, cell: (item) => text(item.key) },
  { id: "summary", header: "Row", width: 120, grow: 2, cell: (item) => text(item.summary) },
  {
    id: "status",
    header: "Status",
    width: 124,
    grow: 0,
    cell: (item) => <StatusBadge status={item.status} />,
  },
  { id: "waiting", header: "Waiting for", width: 150, grow: 5, phone: true, cell: waiting },
  { id: "due", header: "Due", width: 96, grow: 0, phone: true, cell: due },
  { id: "locked", header: "Worker", width: 110, grow: 2, cell: (item) => text(item.lockedBy) },
  {
    id: "attempts",
    header: "Attempts",
    width: 88,
    grow: 0,
    align: "end",
    cell: (item) => grouped(item.attempts),
  },
  {
    id: "updated",
    header: "Updated",
    width: 100,
    grow: 0,
    cell: (item) => <Ago at={item.updatedAt} />,
  },
];

function text(value: string | null) {
  return <span title={value ?? undefined}>{value || "–"}</span>;
}

/** Why an item waits; shared with the Pending screen. */
export function waiting({ waiting: wait }: Pick<Item, "waiting">) {
  if (!wait) return "–";
  const words = causeOf(wait);
  return (
    <span className={styles.wait} title={words}>
      <Icon name={KINDS[wait.kind] ?? "clock"} size={14} />
      <span className={styles.why}>{words}</span>
    </span>
  );
}

/** The due time, if the item waits for that and nothing else. */
function due({ status, waiting: wait, dueAt }: Item) {
  if (status !== "PENDING") return "running";
  const at = wait?.until ?? dueAt;
  if (wait?.kind === "paused" && !wait.until) return "–";
  const isToCome = at !== null && new Date(at).getTime() > Date.now();
  return isToCome ? <Ago at={at} /> : "now";
}
