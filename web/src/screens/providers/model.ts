import { createContext, useContext } from "react";
import type { Gate } from "../../api";
import { duration, type IconName, type Tone, useNow } from "../../design";

/** How long an operator's change applies. */
export const DURATIONS = [
  { value: "900", label: "For 15 minutes" },
  { value: "3600", label: "For 1 hour" },
  { value: "28800", label: "For 8 hours" },
  { value: "86400", label: "For 1 day" },
  { value: "", label: "Until I remove it" },
];

/** The default: a forgotten change ends after an hour. */
export const DEFAULT_DURATION = "3600";

/** The duration as the API takes it; without one, the change applies until it is removed. */
export function durationOf(value: string): { forS?: number } {
  return value ? { forS: Number(value) } : {};
}

export type Line = Gate["evidence"][number];

/** An observation and its decision, in the server's words. The command line shows the same. */
export function sentence({ seen, decided }: Pick<Line, "seen" | "decided">): string {
  return `${seen.charAt(0).toUpperCase()}${seen.slice(1)} – ${decided}`;
}

/** True if the rate changed. */
export function isStep({ before, after }: Pick<Line, "before" | "after">): boolean {
  return after !== null && before !== after;
}

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
export function matchingGates(gates: readonly Gate[], text: string): Gate[] {
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

/** Milliseconds by which the ledger's clock is ahead of the browser's. */
export const LedgerSkew = createContext(0);

/** The time on the ledger's clock, which the times of gates use. */
export function useLedgerNow(): number {
  return useNow() + useContext(LedgerSkew);
}

/**
 * Milliseconds by which a clock is ahead that showed `now` in a response received at `cameAtMs`.
 */
export function skewOf(now: string | null | undefined, cameAtMs: number): number {
  return now ? new Date(now).getTime() - cameAtMs : 0;
}
