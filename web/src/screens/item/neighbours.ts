import type { Item, Rows } from "../../api";

/** The items before and after one, among the loaded rows. */
export function neighboursOf(
  rows: Pick<Rows<Item>, "count" | "row">,
  itemId: string,
  hint: number | null,
): { index: number | null; previous: string | undefined; next: string | undefined } {
  const index = indexOf(rows, itemId, hint);
  if (index === null) return { index, previous: undefined, next: undefined };
  return { index, previous: rows.row(index - 1)?.id, next: rows.row(index + 1)?.id };
}

function indexOf(rows: Pick<Rows<Item>, "count" | "row">, itemId: string, hint: number | null) {
  // Rows move while the drawer is open: look at the old place first, then everywhere.
  if (hint !== null && rows.row(hint)?.id === itemId) return hint;
  for (let index = 0; index < rows.count; index += 1) {
    if (rows.row(index)?.id === itemId) return index;
  }
  return null;
}
