import type { Gate } from "../../api";
import { Badge } from "../../design";
import styles from "./GateState.module.css";
import { useLedgerNow } from "./ledgerTime";
import { lookOfGate, opensIn } from "./look";

/** How a gate stands, with the time until it opens. */
export function GateState({ gate }: { gate: Gate }) {
  const { tone, icon, word } = lookOfGate(gate);
  return (
    <span className={styles.state} title={gate.why || gate.stage}>
      <Badge tone={tone} icon={icon}>
        {word}
      </Badge>
      {gate.closed && <Countdown until={gate.closedUntil} />}
    </span>
  );
}

/** Time until a moment of the ledger's clock, counted down. */
export function Countdown({ until }: { until: string | null }) {
  const words = opensIn(until, useLedgerNow());
  return words ? <span className={styles.countdown}>{words}</span> : null;
}
