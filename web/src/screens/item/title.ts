import type { ItemWhole } from "../../api";

/** What an item is called: by its key, and by its row where that says more. */
export function titleOf(
  item: Pick<ItemWhole, "key" | "summary"> | undefined,
  itemId: string,
): string {
  if (!item?.key) return `Item ${itemId}`;
  const { key, summary } = item;
  const more = summary.startsWith(key) ? summary.slice(key.length).replace(/^ · /, "") : summary;
  return more ? `${key} · ${more}` : `Item ${key}`;
}
