import { countOf, isOpen, type OldestOfJob, type PendingFilter } from "../../api";
import { statusesOf } from "./choices";

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
