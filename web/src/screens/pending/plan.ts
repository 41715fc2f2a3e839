import { type AcrossRequest, mayMoveItem, type PendingFilter } from "../../api";
import type { Selection } from "../../design";
import type { ReprocessCall } from "../reprocess/send";
import { statusesOf } from "./choices";

/** Calls to the server, or why none are possible. */
type Plan = { calls: ReprocessCall[] } | { why: string };

/** A row is identified by job and item, because items run again job by job. */
export function rowIdOf({ jobId, id }: { jobId: string; id: string }): string {
  return `${jobId}/${id}`;
}

/** How to run the selected rows again: by ids, or all that match. */
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
