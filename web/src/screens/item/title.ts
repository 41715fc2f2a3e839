import type { ItemWhole } from "../../api";

/** The title of an item: its key, and its row if that adds something. */
export function titleOf(
  item: Pick<ItemWhole, "key" | "summary"> | undefined,
  itemId: string,
): string {
  if (!item?.key) return `Item ${itemId}`;
  const { key, summary } = item;
  const more = summary.startsWith(key) ? summary.slice(key.length).replace(/^ · /, "") : summary;
  return more ? `${key} · ${more}` : `Item ${key}`;
}
