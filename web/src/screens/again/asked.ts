import { ITEM_STATUSES, type ItemFilter, mayMoveItem, type ReprocessAsked } from "../../api";
import type { Selection } from "../../design";

type Status = NonNullable<ReprocessAsked["statuses"]>[number];

/** Statuses from which an item may run again. */
const FINISHED = ITEM_STATUSES.filter((status) => mayMoveItem(status, "requeue")) as Status[];

/**
 * What to ask of the server for the chosen rows; null if none of them can run again. Rows that are
 * not finished are left alone, also where everything was chosen.
 */
export function askedFor(
  selection: Pick<Selection, "everything" | "ids">,
  filter: ItemFilter,
): ReprocessAsked | null {
  const ids = [...selection.ids];
  if (!selection.everything) return ids.length ? askedForItems(ids) : null;
  const statuses = finishedIn(filter.statuses);
  if (statuses.length === 0) return null;
  return { ...matching(filter), statuses, exceptIds: ids };
}

/** What to ask of the server for some items by their ids. */
export function askedForItems(itemIds: string[]): ReprocessAsked {
  return { scope: "items", itemIds };
}

/** What to ask of the server for all failures that say the same. */
export function askedForGroup(group: { errorClass: string; signature: string }): ReprocessAsked {
  return { ...matching(group), statuses: ["ERROR"] };
}

function matching({ errorClass, q, signature }: ItemFilter): ReprocessAsked {
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
