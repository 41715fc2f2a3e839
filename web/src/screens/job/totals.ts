import { type Counts, countOf, type ItemFilter } from "../../api";

/**
 * Number of matching items if the counters know it. Only the server can count text and error
 * matches.
 */
export function matchingOf(counts: Counts, filter: ItemFilter): number | undefined {
  if (filter.q || filter.errorClass || filter.signature) return undefined;
  if (!filter.statuses) return counts.total;
  const statuses = filter.statuses.split(",");
  return statuses.reduce((sum, status) => sum + countOf(counts, status), 0);
}
