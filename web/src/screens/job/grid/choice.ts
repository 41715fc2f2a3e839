/** Columns that one may see, and those that are shown unless somebody chose others. */
export interface Offer {
  id: string;
  isShown: boolean;
}

/** Ids of the columns that are switched off. `chosen` is what the URL says: ids with commas. */
export function hiddenBy(offers: readonly Offer[], chosen: string | undefined): string[] {
  const ids = chosen?.split(",");
  return offers
    .filter(({ id, isShown }) => (ids ? !ids.includes(escaped(id)) : !isShown))
    .map(({ id }) => id);
}

/** What the URL says after one column was switched on or off; nothing where that is the default. */
export function toggledIn(
  offers: readonly Offer[],
  chosen: string | undefined,
  id: string,
): string | undefined {
  const hidden = new Set(hiddenBy(offers, chosen));
  if (!hidden.delete(id)) hidden.add(id);
  const shown = offers.filter((each) => !hidden.has(each.id));
  const isDefault = offers.every((each) => each.isShown === !hidden.has(each.id));
  return isDefault || shown.length === 0 ? undefined : shown.map((each) => escaped(each.id)).join();
}

/** Names of results may hold commas. */
function escaped(id: string): string {
  return encodeURIComponent(id);
}
