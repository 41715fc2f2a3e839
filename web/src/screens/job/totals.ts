import { type Counts, countOf, type ItemFilter } from "../../api";

/** How many items match, where the counters tell; text and failures only the server could count. */
export function matchingOf(counts: Counts, filter: ItemFilter): number | undefined {
  if (filter.q || filter.errorClass || filter.signature) return undefined;
  if (!filter.statuses) return counts.total;
  const statuses = filter.statuses.split(",");
  return statuses.reduce((sum, status) => sum + countOf(counts, status), 0);
}
