import { partsOf } from "../../../design";

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
