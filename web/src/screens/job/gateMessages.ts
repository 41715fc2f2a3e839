import type { Gate } from "../../api";
import type { GateMessage } from "../../live";

/** Updates one gate from a message. */
export function withMessage(gates: readonly Gate[], message: GateMessage): Gate[] {
  const { at: _, closedUntil, ...fresh } = message;
  const until = closedUntil === null ? null : new Date(closedUntil * 1000).toISOString();
  return gates.map((gate) =>
    gate.key === message.key ? { ...gate, ...fresh, closedUntil: until } : gate,
  );
}
