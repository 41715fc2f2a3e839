import {
  type AcrossRequest,
  countOf,
  isOpen,
  mayMoveItem,
  type OldestOfJob,
  OPEN,
  type PendingFilter,
} from "../../api";
import type { Selection } from "../../design";
import type { ReprocessCall } from "../reprocess/model";

/** The filter for open items, which is the default. */
export const OPEN_CHOICES = [
  { value: "", label: "Pending and processing" },
  { value: "PENDING", label: "Pending only" },
  { value: "PROCESSING", label: "Processing only" },
];

/** Statuses that can be listed across jobs; the others only within a job. */
export const STATUS_CHOICES = [
  ...OPEN_CHOICES,
  { value: "ERROR", label: "Errors" },
  { value: "NOT_FOUND", label: "Not found" },
  { value: "REVIEW", label: "To review" },
];

/** The statuses in the URL, or the default. */
export function statusesOf(text: string | undefined): string[] {
  return text ? text.split(",") : [...OPEN];
}

/** The day of a date field as the time of its start in the local zone. */
export function dayToMoment(day: string, { next = false } = {}): string | undefined {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day);
  if (!parts) return undefined;
  const [year, month, date] = [Number(parts[1]), Number(parts[2]) - 1, Number(parts[3])];
  return new Date(year, month, date + (next ? 1 : 0)).toISOString();
}

/** A time as the day of a date field; `next`: the day that ends with it. */
export function momentToDay(moment: string | undefined, { next = false } = {}): string {
  const at = moment ? new Date(moment) : null;
  if (!at || Number.isNaN(at.getTime())) return "";
  const day = new Date(at.getTime() - (next ? 1 : 0));
  const two = (value: number) => String(value).padStart(2, "0");
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

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

type Counted = Pick<OldestOfJob, "jobId" | "handler" | "counts">;

/** Number of matching open items if the counters know it; otherwise undefined. */
export function openIn(jobs: readonly Counted[], filter: PendingFilter): number | undefined {
  const statuses = statusesOf(filter.statuses);
  const areOpen = statuses.every((status) => isOpen({ status }));
  if (!areOpen || filter.from || filter.to) return undefined;
  return jobs
    .filter(({ jobId }) => !filter.jobId || filter.jobId === jobId)
    .filter(({ handler }) => !filter.jobType || filter.jobType === handler)
    .reduce(
      (sum, { counts }) => statuses.reduce((all, each) => all + countOf(counts, each), sum),
      0,
    );
}
