import { ITEM_DISPLAY, ITEM_MOVES, JOB_MOVES, OPEN, UNFINISHED } from "./moves";
import type { Counts, ItemStatus, Job } from "./types";

/** True if the state allows this move. The table comes from the program itself. */
export function mayMove(job: Pick<Job, "state">, move: keyof typeof JOB_MOVES): boolean {
  return has(JOB_MOVES[move], job.state);
}

export function mayMoveItem(status: ItemStatus | string, move: keyof typeof ITEM_MOVES): boolean {
  return has(ITEM_MOVES[move], status);
}

/** True until the job has ended. */
export function isUnfinished(job: Pick<Job, "state">): boolean {
  return has(UNFINISHED, job.state);
}

/** True while the item is pending or running. */
export function isOpen({ status }: { status: string }): boolean {
  return has(OPEN, status);
}

/** Number of items with an outcome, including items in REVIEW. */
export function settled(counts: Counts): number {
  return counts.total - counts.pending - counts.processing;
}

/** Number of items with that status; 0 for an unknown status. */
export function countOf(counts: Counts, status: string): number {
  return counts[ITEM_DISPLAY[status as ItemStatus]?.counter] ?? 0;
}

function has(list: readonly string[], value: string): boolean {
  return list.includes(value);
}
