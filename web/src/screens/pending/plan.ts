import { type AcrossRequest, mayMoveItem, type PendingFilter } from "../../api";
import type { Selection } from "../../design";
import type { ReprocessCall } from "../reprocess/send";
import { statusesOf } from "./choices";

/** What to ask of the server, or why that cannot be asked. */
type Plan = { calls: ReprocessCall[] } | { why: string };

/** Rows are known by job and item: those that are named run again job by job. */
export function rowIdOf({ jobId, id }: { jobId: string; id: string }): string {
  return `${jobId}/${id}`;
}

/** How the chosen rows run again: some by their ids, or all that match. */
export function planOf(
  { everything, ids }: Pick<Selection, "everything" | "ids">,
  filter: PendingFilter,
): Plan {
  const statuses = statusesOf(filter.statuses).filter((each) => mayMoveItem(each, "requeue"));
  if (statuses.length === 0) {
    return {
      why: "Pending and processing items run by themselves. Filter by a finished status to run items again.",
    };
  }
  if (!everything) return { calls: callsByJob([...ids]) };
  const across = { ...given(filter), statuses, exceptIds: [...ids].map(itemOf) } as AcrossRequest;
  return { calls: [{ across }] };
}

/** A filter without what it does not say. */
function given(filter: PendingFilter): object {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value));
}

function callsByJob(rowIds: string[]): ReprocessCall[] {
  const byJob = new Map<string, string[]>();
  for (const rowId of rowIds) {
    const [jobId = "", itemId = ""] = rowId.split("/");
    byJob.set(jobId, [...(byJob.get(jobId) ?? []), itemId]);
  }
  return [...byJob].map(([jobId, itemIds]) => ({
    jobId,
    body: { scope: "items", itemIds },
  }));
}

function itemOf(rowId: string): string {
  return rowId.split("/")[1] ?? "";
}
