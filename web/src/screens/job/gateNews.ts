import type { Gate } from "../../api";
import type { GateNews } from "../../live";

/** Gates with what is new of one of them. */
export function withNews(gates: readonly Gate[], news: GateNews): Gate[] {
  const { at: _, closedUntil, ...fresh } = news;
  const until = closedUntil === null ? null : new Date(closedUntil * 1000).toISOString();
  return gates.map((gate) =>
    gate.key === news.key ? { ...gate, ...fresh, closedUntil: until } : gate,
  );
}
