import type { Attempt, Call } from "../../api";
import { grouped } from "../../design";

/** Outcomes that do not count as an attempt. */
const UNCOUNTED = new Set(["crashed", "deferred", "handed_back", "throttled"]);

export function isCounted({ outcome }: Attempt): boolean {
  return !UNCOUNTED.has(outcome);
}

/** Number of attempts in words. The history also lists executions that do not count. */
export function attemptsTold(attempts: number, history: readonly Attempt[]): string {
  const free = history.filter((each) => !isCounted(each)).length;
  return free
    ? `Attempts (${grouped(attempts)}, and ${grouped(free)} not counted)`
    : `Attempts (${grouped(attempts)})`;
}

/** Time of an attempt by phase, in ms. */
export interface Split {
  /** From the end of the previous attempt until a worker claimed the item again. */
  retry: number;
  /** Claimed by a worker, not yet started. */
  queue: number;
  /** Requests waiting at a gate. */
  gate: number;
  /** Requests on the network. */
  network: number;
  /** The handler's own time. */
  work: number;
}

export const PARTS = ["retry", "queue", "gate", "network", "work"] as const;

/** The phases of an attempt; `before` is the previous one. */
export function splitOf(attempt: Attempt, before: Attempt | undefined): Split {
  const ran = Math.max(0, attempt.ranMs);
  const [waited, network] = within(ran, gateOf(attempt.calls), networkOf(attempt.calls));
  const rest = Math.max(0, ran - waited - network);
  // A request that never passed the gate has no call: the rest of such an attempt was waiting.
  const isThrottled = attempt.outcome === "throttled";
  return {
    retry: before ? Math.max(0, ms(attempt.leasedAt) - ms(before.endedAt)) : 0,
    queue: Math.max(0, attempt.waitedMs),
    gate: waited + (isThrottled ? rest : 0),
    network,
    work: isThrottled ? 0 : rest,
  };
}

export function totalOf(split: Split): number {
  return PARTS.reduce((sum, part) => sum + split[part], 0);
}

function gateOf(calls: readonly Call[]): number {
  return calls.reduce((sum, { waitedMs }) => sum + waitedMs, 0);
}

/** Cached responses used no network. */
function networkOf(calls: readonly Call[]): number {
  return calls.reduce((sum, { kind, ranMs }) => (kind === "cached" ? sum : sum + ranMs), 0);
}

/** Scales two parts to fit a whole: parallel requests add up to more time than passed. */
function within(whole: number, one: number, other: number): [number, number] {
  const sum = one + other;
  const scale = sum > whole && sum > 0 ? whole / sum : 1;
  return [one * scale, other * scale];
}

function ms(moment: string | null): number {
  return moment ? new Date(moment).getTime() : 0;
}
