import { type Draft, named } from "./draft";

type Names = Draft["names"];

/** Suggested names for columns that differ from the handler's needs only in spelling. */
export function suggested(columns: readonly string[], needs: readonly string[]): Names {
  const names: Record<string, string> = {};
  for (const need of needs) {
    if (columns.includes(need)) continue;
    const alike = columns.find((column) => plain(column) === plain(need) && !names[column]);
    if (alike !== undefined) names[alike] = need;
  }
  return names;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

/** The column with that new name. */
export function columnFor(columns: readonly string[], names: Names, name: string): string {
  return columns.find((column) => named(names, column) === name) ?? "";
}

/** Names after a column was chosen (none: ""). A column that had the name before loses it. */
export function withColumn(
  columns: readonly string[],
  names: Names,
  name: string,
  chosen: string,
): Names {
  const before = columnFor(columns, names, name);
  const next = { ...names };
  if (before && before !== chosen) {
    if (before === name) next[before] = `${name}_original`;
    else delete next[before];
  }
  if (!chosen) return next;
  if (chosen === name) delete next[chosen];
  else next[chosen] = name;
  return next;
}
