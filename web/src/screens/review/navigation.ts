import type { Item, Rows } from "../../api";

type Line = Pick<Rows<Item>, "count" | "row">;

/** Where an item stands in the line; -1 if it is not (or no longer) there. */
export function placeOf(line: Line, id: string | undefined): number {
  for (let index = 0; index < line.count; index += 1) {
    if (line.row(index)?.id === id) return id === undefined ? -1 : index;
  }
  return -1;
}

/** The nearest item that is not decided, looking from a place on in steps of one; else undefined. */
export function openFrom(
  line: Line,
  from: number,
  step: 1 | -1,
  decided: ReadonlySet<string>,
): string | undefined {
  for (let index = from; index >= 0 && index < line.count; index += step) {
    const id = line.row(index)?.id;
    if (id === undefined) return undefined;
    if (!decided.has(id)) return id;
  }
  return undefined;
}

/** Where to go once the item at a place is decided: on, or back if it was the last. */
export function afterDeciding(
  line: Line,
  at: number,
  decided: ReadonlySet<string>,
): string | undefined {
  return openFrom(line, at + 1, 1, decided) ?? openFrom(line, at - 1, -1, decided);
}
