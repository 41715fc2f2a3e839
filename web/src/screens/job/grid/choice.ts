/** A column, and whether it is shown by default. */
export interface Offer {
  id: string;
  isShown: boolean;
}

/** Ids of the hidden columns. `chosen` is the URL parameter: ids separated by commas. */
export function hiddenBy(offers: readonly Offer[], chosen: string | undefined): string[] {
  const ids = chosen?.split(",");
  return offers
    .filter(({ id, isShown }) => (ids ? !ids.includes(escaped(id)) : !isShown))
    .map(({ id }) => id);
}

/** The URL parameter after one column was toggled; undefined for the default. */
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

/** Names of result fields may contain commas. */
function escaped(id: string): string {
  return encodeURIComponent(id);
}
