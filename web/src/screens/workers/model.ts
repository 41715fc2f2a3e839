import type { Worker } from "../../api";
import { counted, grouped, type IconName, type Tone } from "../../design";

export interface StatusStyle {
  tone: Tone;
  icon: IconName;
  word: string;
  /** Tooltip. */
  about: string;
}

/** The state of a worker at a time in ms since 1970. */
export function statusOfWorker(worker: Worker, nowMs: number): StatusStyle {
  if (worker.stoppedAt) {
    return { tone: "pending", icon: "stop", word: "Stopped", about: "The process has exited." };
  }
  if (isSilent(worker, nowMs)) {
    const about = "No heartbeat for too long. Other workers take over its items.";
    return { tone: "error", icon: "warn", word: "Silent", about };
  }
  if (worker.draining) {
    const about = "Finishes its items, takes no more, then exits.";
    return { tone: "warn", icon: "arrowDown", word: "Draining", about };
  }
  return worker.running > 0
    ? { tone: "processing", icon: "play", word: "Working", about: "Processing items." }
    : { tone: "done", icon: "check", word: "Idle", about: "Waiting for items." };
}

/** True if the last heartbeat is too old. */
export function isSilent({ beatAt, ttlS }: Worker, nowMs: number): boolean {
  return beatAt !== null && nowMs - new Date(beatAt).getTime() > ttlS * 1000;
}

/** True if the worker can be drained. */
export function mayDrain(worker: Worker): boolean {
  return !worker.stoppedAt && !worker.draining;
}

/** "3 workers hold 120 items on 2 hosts". */
export function inWords(workers: readonly Worker[]): string {
  const alive = workers.filter((worker) => !worker.stoppedAt);
  const held = alive.reduce((sum, { running }) => sum + running, 0);
  const hosts = new Set(alive.map(({ host }) => host)).size;
  return [
    `${counted(alive.length, "worker")} ${alive.length === 1 ? "holds" : "hold"}`,
    counted(held, "item"),
    hosts > 1 ? `on ${grouped(hosts)} hosts` : "",
  ]
    .filter(Boolean)
    .join(" ");
}
