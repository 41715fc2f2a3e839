import type { Attempt, Call } from "../../api";
import { grouped } from "../../design";

/** Outcomes of executions that cost no attempt. */
const UNCOUNTED = new Set(["crashed", "deferred", "handed_back", "throttled"]);

export function isCounted({ outcome }: Attempt): boolean {
  return !UNCOUNTED.has(outcome);
}

/** How often an item was attempted, in words; the list has executions that do not count as well. */
export function attemptsTold(attempts: number, history: readonly Attempt[]): string {
  const free = history.filter((each) => !isCounted(each)).length;
  return free
    ? `Attempts (${grouped(attempts)}, and ${grouped(free)} not counted)`
    : `Attempts (${grouped(attempts)})`;
}

/** What the time of an attempt went to, in ms. */
export interface Split {
  /** From the end of the attempt before until a worker took it again. */
  retry: number;
  /** In a worker's hands, before it was begun. */
  queue: number;
  /** Requests waited at a gate. */
  gate: number;
  /** Requests were under way. */
  network: number;
  /** The handler's own work. */
  work: number;
}

export const PARTS = ["retry", "queue", "gate", "network", "work"] as const;

/** How the time of an attempt is split; `before` is the one that ended before it. */
export function splitOf(attempt: Attempt, before: Attempt | undefined): Split {
  const ran = Math.max(0, attempt.ranMs);
  const [waited, network] = within(ran, gateOf(attempt.calls), networkOf(attempt.calls));
  const rest = Math.max(0, ran - waited - network);
  // A request that was never let through is no call: all that is left of such an attempt it waited.
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

/** What the cache knew cost no network. */
function networkOf(calls: readonly Call[]): number {
  return calls.reduce((sum, { kind, ranMs }) => (kind === "cached" ? sum : sum + ranMs), 0);
}

/** Two parts of a whole: requests side by side add up to more time than there was. */
function within(whole: number, one: number, other: number): [number, number] {
  const sum = one + other;
  const scale = sum > whole && sum > 0 ? whole / sum : 1;
  return [one * scale, other * scale];
}

function ms(moment: string | null): number {
  return moment ? new Date(moment).getTime() : 0;
}
