import { getRouteApi } from "@tanstack/react-router";
import { type Event, type Gate, isUnfinished, type Job, useJobGates, useLog } from "../../api";
import {
  Ago,
  Badge,
  Button,
  type Column,
  DataGrid,
  EmptyState,
  ErrorState,
  Panel,
  Time,
} from "../../design";
import { ItemDrawer } from "../item/ItemDrawer";
import { useOpenItem } from "../item/ListedItem";
import { Evidence } from "../providers/Evidence";
import { isStep } from "../providers/model";
import styles from "./ActivityTab.module.css";
import { toneOf, wordOf } from "./model";
import { RetriesAhead } from "./RetriesAhead";

const route = getRouteApi("/frame/jobs/$jobId");
const rowId = (event: Event) => event.id;

const COLUMNS: Column<Event>[] = [
  { id: "at", header: "Time", width: 200, grow: 0, cell: (event) => <Time at={event.at} /> },
  {
    id: "ago",
    header: "Age",
    width: 112,
    grow: 0,
    phone: true,
    cell: (event) => <Ago at={event.at} />,
  },
  {
    id: "kind",
    header: "Kind",
    width: 128,
    grow: 0,
    cell: ({ kind }) => <Badge tone={toneOf(kind)}>{wordOf(kind)}</Badge>,
  },
  {
    id: "message",
    header: "Event",
    width: 180,
    grow: 5,
    phone: true,
    cell: ({ message }) => <span title={message}>{message}</span>,
  },
  { id: "item", header: "Item", width: 88, grow: 0, cell: (event) => <ItemOf event={event} /> },
];

/** Events of a job: state changes, limits, retries, decisions. */
export function ActivityTab({ job }: { job: Job }) {
  const { item } = route.useSearch();
  const rows = useLog(job.id);
  const open = useOpenItem();
  return (
    <div className={styles.activity}>
      <section className={styles.log} aria-label="Activity">
        <DataGrid
          label="Activity, newest first"
          columns={COLUMNS}
          rows={rows}
          rowId={rowId}
          empty={
            <EmptyState title="No activity">
              <p>Old entries are deleted after the retention period (see the settings).</p>
            </EmptyState>
          }
        />
      </section>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls what has the focus */}
      <section className={styles.beside} aria-label="Limits and retries" tabIndex={0}>
        <LimitChanges job={job} />
        {isUnfinished(job) && <RetriesAhead job={job} />}
      </section>
      {item && <ItemDrawer itemId={item} onClose={() => open(undefined)} />}
    </div>
  );
}

function ItemOf({ event: { itemId } }: { event: Event }) {
  const open = useOpenItem();
  if (!itemId) return null;
  return (
    <Button variant="quiet" onClick={() => open(itemId)}>
      {itemId}
    </Button>
  );
}

const SHOWN = 20;

/** Rate changes of the job's providers, with their evidence. */
export function LimitChanges({ job }: { job: Job }) {
  const gates = useJobGates(job.id);
  const changes = changesIn(gates.data?.items ?? [], job).slice(0, SHOWN);
  return (
    <Panel title="Limit changes">
      {gates.error && <ErrorState error={gates.error} retry={() => void gates.refetch()} />}
      {gates.data && changes.length === 0 && (
        <p className={styles.muted}>No rate-limit changes. This job has not been throttled.</p>
      )}
      <Evidence lines={changes} />
    </Panel>
  );
}

/** Rate changes during the job, newest first. */
export function changesIn(
  gates: readonly Pick<Gate, "name" | "evidence">[],
  { createdAt, finishedAt }: Pick<Job, "createdAt" | "finishedAt">,
) {
  const isWithin = ({ at }: { at: string | null }) =>
    at !== null && at >= (createdAt ?? "") && (finishedAt === null || at <= finishedAt);
  return gates
    .flatMap(({ name, evidence }) => evidence.map((line) => ({ gate: name, ...line })))
    .filter((line) => isStep(line) && isWithin(line))
    .sort((a, b) => (b.at ?? "").localeCompare(a.at ?? ""));
}
