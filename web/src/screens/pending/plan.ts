import { mayMoveItem, type PendingFilter, type ReprocessAsked } from "../../api";
import type { Selection } from "../../design";
import type { Ask } from "../again/ask";
import { statusesOf } from "./choices";

type Status = NonNullable<ReprocessAsked["statuses"]>[number];

/** What to ask of the server, or why that cannot be asked. */
type Plan = { asks: Ask[] } | { why: string };

/** Rows are known by job and item: items run again job by job. */
export function rowIdOf({ jobId, id }: { jobId: string; id: string }): string {
  return `${jobId}/${id}`;
}

/** How the chosen rows run again: some by their ids, or all that match. */
export function planOf(
  selection: Pick<Selection, "everything" | "ids">,
  filter: PendingFilter,
  isAdmin: boolean,
): Plan {
  const statuses = statusesOf(filter.statuses).filter((each) =>
    mayMoveItem(each, "requeue"),
  ) as Status[];
  if (statuses.length === 0) {
    return {
      why: "What waits or runs needs no push. Choose a finished status to run items again.",
    };
  }
  return selection.everything
    ? planOfAll(statuses, filter, [...selection.ids].map(itemOf), isAdmin)
    : { asks: askedByJob([...selection.ids]) };
}

function planOfAll(
  statuses: Status[],
  filter: PendingFilter,
  exceptIds: string[],
  isAdmin: boolean,
): Plan {
  if (filter.from || filter.to) {
    return {
      why: "All of a range of days cannot run again at once: clear the days, or choose rows.",
    };
  }
  const isErrors = statuses.every((status) => status === "ERROR");
  if (filter.jobId) {
    return { asks: [{ jobId: filter.jobId, body: { scope: "job", statuses, exceptIds } }] };
  }
  // An admin's replay is of everybody's dead letters, anybody else's of their own.
  if (!isErrors || (isAdmin && filter.userId === "me")) {
    return { why: "All of several jobs cannot run again at once: choose a job, or choose rows." };
  }
  const jobType = filter.jobType ? { jobType: filter.jobType } : {};
  return { asks: [{ replay: { all: true, exceptIds, ...jobType } }] };
}

function askedByJob(rowIds: string[]): Ask[] {
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
