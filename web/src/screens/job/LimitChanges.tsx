import { type Gate, useJobGates } from "../../api";
import { Ago, ErrorState, Panel, perSecond } from "../../design";
import styles from "./ActivityTab.module.css";

const SHOWN = 20;

interface Change {
  gate: string;
  at: string | null;
  seen: string;
  decided: string;
  before: number | null;
  after: number | null;
}

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
      <ol className={styles.lines}>
        {changes.map((change) => (
          <li key={`${change.gate} ${change.at} ${change.seen}`}>
            <span>
              <strong>{change.gate}</strong> {change.decided}
              {change.before !== change.after && (
                <>
                  {": "}
                  {perSecond(change.before)} → {perSecond(change.after)}
                </>
              )}
            </span>
            <span className={styles.muted}>
              {change.seen} · <Ago at={change.at} />
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

/** The evidence of all gates, newest first. */
export function changesIn(gates: readonly Pick<Gate, "name" | "evidence">[]): Change[] {
  return gates
    .flatMap(({ name, evidence }) => evidence.map((line) => ({ gate: name, ...line })))
    .sort((a, b) => (b.at ?? "").localeCompare(a.at ?? ""));
}
