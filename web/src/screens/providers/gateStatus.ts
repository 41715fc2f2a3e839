import type { Gate } from "../../api";
import { duration, type IconName, type Tone } from "../../design";

export interface StatusStyle {
  tone: Tone;
  icon: IconName;
  word: string;
}

/** The state of a gate. An operator's change comes before what was learned. */
export function statusOfGate(gate: Gate): StatusStyle {
  if (gate.override?.paused) return { tone: "warn", icon: "pause", word: "Paused" };
  if (Object.keys(gate.broken).length > 0) {
    return { tone: "error", icon: "warn", word: "No answer" };
  }
  if (gate.closed) return { tone: "warn", icon: "stop", word: "Closed" };
  if (gate.waiting && gate.cause !== "open") {
    return { tone: "processing", icon: "half", word: "At limit" };
  }
  if (!gate.asked) return { tone: "pending", icon: "circle", word: "Not used yet" };
  return { tone: "done", icon: "check", word: "Open" };
}

/** "opens in 12 s"; null if the time is unknown. */
export function inTime(verb: string, until: string | null, nowMs: number): string | null {
  if (until === null) return null;
  const left = Math.ceil((new Date(until).getTime() - nowMs) / 1000);
  return left > 0 ? `${verb} in ${duration(left)}` : `${verb} now`;
}

/** Gates whose name contains a text; gates that delay requests come first. */
export function found(gates: readonly Gate[], text: string): Gate[] {
  const wanted = text.trim().toLowerCase();
  const matching = gates.filter(({ key }) => key.toLowerCase().includes(wanted));
  return matching.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
}

function rank(gate: Gate): number {
  if (Object.keys(gate.broken).length > 0) return 0;
  if (gate.closed) return 1;
  if (gate.waiting) return 2;
  return gate.asked ? 3 : 4;
}

/** Hosts that do not answer, each with its next try, soonest first. */
export function brokenHosts(gate: Gate): { host: string; again: string | null }[] {
  return Object.entries(gate.broken)
    .map(([host, again]) => ({ host, again }))
    .sort((a, b) => (a.again ?? "").localeCompare(b.again ?? ""));
}
