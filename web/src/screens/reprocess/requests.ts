import { ITEM_STATUSES, type ItemFilter, mayMoveItem, type ReprocessRequest } from "../../api";
import type { Selection } from "../../design";

type Status = NonNullable<ReprocessRequest["statuses"]>[number];

/** Statuses from which an item can run again. */
const FINISHED = ITEM_STATUSES.filter((status) => mayMoveItem(status, "requeue")) as Status[];

/**
 * The request for the selected rows; null if none of them can run again. Rows that are not finished
 * are left out, also if everything is selected.
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

/** The request for some items by id. */
export function requestForItems(itemIds: string[]): ReprocessRequest {
  return { scope: "items", itemIds };
}

/** The request for all failures of a group. */
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

/** The finished statuses of a filter; all finished statuses if it names none. */
function finishedIn(statuses: string | undefined): Status[] {
  if (!statuses) return FINISHED;
  const wanted = statuses.split(",");
  return FINISHED.filter((status) => wanted.includes(status));
}
