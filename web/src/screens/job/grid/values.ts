/** A value of a result as text for one line: plain values as they are, others as JSON. */
export function inLine(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The named parts of a result; a result that is no object has none. */
export function partsOf(result: unknown): Record<string, unknown> {
  const isObject = typeof result === "object" && result !== null && !Array.isArray(result);
  return isObject ? (result as Record<string, unknown>) : {};
}

const LOOKED_AT = 200;

/** The names that results use, in order of first appearance; candidates are not results yet. */
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
