import type { ErrorGroup } from "../../../api";
import { partsOf } from "../../../design";

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

/** Number of failures of each class, most frequent first. */
export function classesIn(groups: readonly ErrorGroup[]): { name: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { errorClass, count } of groups) {
    counts.set(errorClass, (counts.get(errorClass) ?? 0) + count);
  }
  return [...counts]
    .map(([name, count]) => ({ name, count }))
    .sort((a, b) => b.count - a.count || a.name.localeCompare(b.name));
}

const LOOKED_AT = 200;

/** Names of result fields in order of first appearance. Candidates are not results yet. */
export function namesIn<T extends { status: string; result?: unknown }>(
  count: number,
  row: (index: number) => T | undefined,
): string[] {
  const names = new Set<string>();
  for (let index = 0; index < Math.min(count, LOOKED_AT); index += 1) {
    const item = row(index);
    const result = item?.status === "REVIEW" ? null : item?.result;
    for (const name of Object.keys(partsOf(result))) names.add(name);
  }
  return [...names];
}
