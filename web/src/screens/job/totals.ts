import type { Counts, ItemFilter, ItemStatus } from "../../api";

const NAMES: Record<ItemStatus, keyof Counts> = {
  PENDING: "pending",
  PROCESSING: "processing",
  DONE: "done",
  NOT_FOUND: "notFound",
  SKIPPED: "skipped",
  REVIEW: "review",
  ERROR: "error",
  CANCELLED: "cancelled",
};

/** How many items match, where the counters tell; text and failures only the server could count. */
export function matchingOf(counts: Counts, filter: ItemFilter): number | undefined {
  if (filter.q || filter.errorClass || filter.signature) return undefined;
  if (!filter.statuses) return counts.total;
  const names = filter.statuses.split(",").map((status) => NAMES[status as ItemStatus]);
  return names.reduce((sum, name) => sum + (counts[name] ?? 0), 0);
}
