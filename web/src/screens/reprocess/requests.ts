import { ITEM_STATUSES, type ItemFilter, mayMoveItem, type ReprocessRequest } from "../../api";
import type { Selection } from "../../design";

type Status = NonNullable<ReprocessRequest["statuses"]>[number];

/** Statuses from which an item may run again. */
const FINISHED = ITEM_STATUSES.filter((status) => mayMoveItem(status, "requeue")) as Status[];

/**
 * What to ask of the server for the chosen rows; null if none of them can run again. Rows that are
 * not finished are left alone, also where everything was chosen.
 */
export function requestFor(
  selection: Pick<Selection, "everything" | "ids">,
  filter: ItemFilter,
): ReprocessRequest | null {
  const ids = [...selection.ids];
  if (!selection.everything) return ids.length ? requestForItems(ids) : null;
  const statuses = finishedIn(filter.statuses);
  if (statuses.length === 0) return null;
  return { ...matching(filter), statuses, exceptIds: ids };
}

/** What to ask of the server for some items by their ids. */
export function requestForItems(itemIds: string[]): ReprocessRequest {
  return { scope: "items", itemIds };
}

/** What to ask of the server for all failures that say the same. */
export function requestForGroup(group: {
  errorClass: string;
  signature: string;
}): ReprocessRequest {
  return { ...matching(group), statuses: ["ERROR"] };
}

function matching({ errorClass, q, signature }: ItemFilter): ReprocessRequest {
  const filter = { ...(q ? { q } : {}), ...(signature ? { signature } : {}) };
  return {
    scope: "job",
    ...(errorClass ? { errorClass } : {}),
    ...(Object.keys(filter).length ? { filter } : {}),
  };
}

/** Those of a filter's statuses that are finished; of all, where it names none. */
function finishedIn(statuses: string | undefined): Status[] {
  if (!statuses) return FINISHED;
  const wanted = statuses.split(",");
  return FINISHED.filter((status) => wanted.includes(status));
}
