import type { DeadLetterFilter, ReplayAsked } from "../../api";
import type { Selection } from "../../design";

/** What to ask of the server for the chosen rows; everything means all that match the filter. */
export function replayOf(
  { everything, ids }: Pick<Selection, "everything" | "ids">,
  { errorClass, jobType }: DeadLetterFilter,
): ReplayAsked {
  if (!everything) return { itemIds: [...ids] };
  return {
    all: true,
    ...(ids.size ? { exceptIds: [...ids] } : {}),
    ...(errorClass ? { errorClass } : {}),
    ...(jobType ? { jobType } : {}),
  };
}

/** All that match, none taken out. */
export const EVERYTHING: Pick<Selection, "everything" | "ids"> = {
  everything: true,
  ids: new Set<string>(),
};
