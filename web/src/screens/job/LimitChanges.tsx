import { type Gate, type Job, useJobGates } from "../../api";
import { ErrorState, Panel } from "../../design";
import { Evidence } from "../providers/Evidence";
import { isStep } from "../providers/evidence";
import styles from "./ActivityTab.module.css";

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
