/** One of the things that an item may be. */
export interface Candidate {
  id: string;
  name: string;
  /** How sure the handler is, as it says it. */
  score: string;
  /** What is known of it; its result is what the item gets. */
  values: Readonly<Record<string, unknown>>;
}

type Values = Readonly<Record<string, unknown>>;

/** The candidates in the result of an item in REVIEW; what has no id cannot be chosen. */
export function candidatesIn(result: unknown): Candidate[] {
  const list = isObject(result) ? result.candidates : undefined;
  if (!Array.isArray(list)) return [];
  return list.filter((each): each is Values => isObject(each) && "id" in each).map(candidate);
}

function candidate({ id, name, score, result, ...more }: Values): Candidate {
  return {
    id: String(id),
    name: name === undefined ? String(id) : shown(name),
    score: score === undefined || score === null ? "" : shown(score),
    values: { ...more, ...(isObject(result) ? result : {}) },
  };
}

/** What a row and its candidates are compared by: fields of the row first, then all others. */
export function fieldsOf(row: unknown, candidates: readonly Candidate[]): string[] {
  const names = [row, ...candidates.map(({ values }) => values)].flatMap((each) =>
    isObject(each) ? Object.keys(each) : [],
  );
  return [...new Set(names)];
}

/** The value of a field, of whatever has fields. */
export function fieldIn(row: unknown, field: string): unknown {
  return isObject(row) ? row[field] : undefined;
}

/** Whether two values say the same to a person, who reads over case and spaces. */
export function isAlike(one: unknown, other: unknown): boolean {
  if (isNothing(one) || isNothing(other)) return false;
  return plain(one) === plain(other);
}

function plain(value: unknown): string {
  return shown(value).trim().toLowerCase().replace(/\s+/g, " ");
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

/** A value as text. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function isObject(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
