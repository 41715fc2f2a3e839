import type { Gate } from "../../api";
import { Badge } from "../../design";
import styles from "./GateState.module.css";
import { brokenHosts, inTime, statusOfGate, useLedgerNow } from "./model";

/** The state of a gate, with the time until it opens. */
export function GateState({ gate }: { gate: Gate }) {
  const { tone, icon, word } = statusOfGate(gate);
  return (
    <span className={styles.state} title={gate.why || gate.stage}>
      <Badge tone={tone} icon={icon}>
        {word}
      </Badge>
      <ClosedUntil gate={gate} />
    </span>
  );
}

function ClosedUntil({ gate }: { gate: Gate }) {
  const [first] = brokenHosts(gate);
  if (gate.closed) return <Countdown until={gate.closedUntil} />;
  return first ? <Countdown until={first.again} verb="next try" /> : null;
}

/** Countdown to a time of the ledger's clock. */
export function Countdown({ until, verb = "opens" }: { until: string | null; verb?: string }) {
  const words = inTime(verb, until, useLedgerNow());
  return words ? <span className={styles.countdown}>{words}</span> : null;
}
