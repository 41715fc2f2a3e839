import type { Item, Rows } from "../../api";

type Line = Pick<Rows<Item>, "count" | "row">;

/** The index of an item in the list; -1 if it is not there. */
export function placeOf(line: Line, id: string | undefined): number {
  for (let index = 0; index < line.count; index += 1) {
    if (line.row(index)?.id === id) return id === undefined ? -1 : index;
  }
  return -1;
}

/** The nearest undecided item in one direction; undefined if there is none. */
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

/** The item after a decision: the next one, or the previous one at the end. */
export function afterDeciding(
  line: Line,
  at: number,
  decided: ReadonlySet<string>,
): string | undefined {
  return openFrom(line, at + 1, 1, decided) ?? openFrom(line, at - 1, -1, decided);
}
