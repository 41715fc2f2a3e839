import { type Gate, useJobGates } from "../../api";
import { ErrorState, Panel } from "../../design";
import { Evidence } from "../providers/Evidence";
import { isStep } from "../providers/evidence";
import styles from "./ActivityTab.module.css";

const SHOWN = 20;

/** What was learned of the providers of a job, and from what. */
export function LimitChanges({ jobId }: { jobId: string }) {
  const gates = useJobGates(jobId);
  const changes = changesIn(gates.data?.items ?? []).slice(0, SHOWN);
  return (
    <Panel title="Limit changes">
      {gates.error && <ErrorState error={gates.error} retry={() => void gates.refetch()} />}
      {gates.data && changes.length === 0 && (
        <p className={styles.muted}>
          Nothing was learned of a provider: this job asked none, or none refused anything.
        </p>
      )}
      <Evidence lines={changes} />
    </Panel>
  );
}

/** Each change of a gate's rate, newest first. */
export function changesIn(gates: readonly Pick<Gate, "name" | "evidence">[]) {
  return gates
    .flatMap(({ name, evidence }) => evidence.map((line) => ({ gate: name, ...line })))
    .filter(isStep)
    .sort((a, b) => (b.at ?? "").localeCompare(a.at ?? ""));
}
