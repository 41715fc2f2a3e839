import type { ErrorGroup } from "../../../api";

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
