import type { DeadLetterFilter, ReplayRequest } from "../../api";
import { grouped, type Selection } from "../../design";

/** The replay request for the selection. `everything` means all that match the filter. */
export function replayOf(
  { everything, ids }: Pick<Selection, "everything" | "ids">,
  { errorClass, jobType }: DeadLetterFilter,
): ReplayRequest {
  if (!everything) return { itemIds: [...ids] };
  return {
    all: true,
    ...(ids.size ? { exceptIds: [...ids] } : {}),
    ...(errorClass ? { errorClass } : {}),
    ...(jobType ? { jobType } : {}),
  };
}

export const EVERYTHING: Pick<Selection, "everything" | "ids"> = {
  everything: true,
  ids: new Set<string>(),
};

export function inWords({ all, errorClass, jobType, exceptIds }: ReplayRequest): string {
  if (!all) return "The rows that you selected.";
  const what = errorClass ? `of class “${errorClass}” ` : "";
  const where = jobType ? `in jobs of type “${jobType}”` : "in all jobs";
  const but = exceptIds?.length ? `, except ${grouped(exceptIds.length)}` : "";
  return `All dead letters ${what}${where}${but}.`;
}
