import { ITEM_MOVES, JOB_MOVES, UNFINISHED } from "./moves";
import type { Counts, ItemStatus, Job } from "./types";

/** Whether a job may be moved so now: buttons follow the program's own table. */
export function mayMove(job: Pick<Job, "state">, move: keyof typeof JOB_MOVES): boolean {
  return has(JOB_MOVES[move], job.state);
}

/** Whether an item may be moved so now. */
export function mayMoveItem(status: ItemStatus | string, move: keyof typeof ITEM_MOVES): boolean {
  return has(ITEM_MOVES[move], status);
}

/** Whether work on a job is still to come. */
export function isUnfinished(job: Pick<Job, "state">): boolean {
  return has(UNFINISHED, job.state);
}

/** Whether work on an item is still to come or under way. */
export function isOpen({ status }: { status: string }): boolean {
  return status === "PENDING" || status === "PROCESSING";
}

/** How many items have an outcome; those in REVIEW have one that a person must look at. */
export function settled(counts: Counts): number {
  return counts.total - counts.pending - counts.processing;
}

const COUNTERS: Readonly<Record<ItemStatus, keyof Counts>> = {
  PENDING: "pending",
  PROCESSING: "processing",
  DONE: "done",
  NOT_FOUND: "notFound",
  SKIPPED: "skipped",
  REVIEW: "review",
  ERROR: "error",
  CANCELLED: "cancelled",
};

/** How many items have that status; of an unknown one there are none. */
export function countOf(counts: Counts, status: string): number {
  return counts[COUNTERS[status as ItemStatus]] ?? 0;
}

function has(list: readonly string[], value: string): boolean {
  return list.includes(value);
}
