import { inLine, partsOf } from "../../design";

/** One of the things that an item may be. */
export interface Candidate {
  id: string;
  name: string;
  /** How sure the handler is, as it says it. */
  score: string;
  /** What is known of it; its result is what the item gets. */
  values: Values;
}

type Values = Readonly<Record<string, unknown>>;

/** The candidates in the result of an item in REVIEW; what has no id cannot be chosen. */
export function candidatesIn(result: unknown): Candidate[] {
  const list = partsOf(result).candidates;
  if (!Array.isArray(list)) return [];
  return list
    .map(partsOf)
    .filter((each) => "id" in each)
    .map(candidate);
}

function candidate({ id, score, result, ...more }: Values): Candidate {
  return {
    id: String(id),
    name: inLine(more.name) || String(id),
    score: inLine(score),
    values: { ...more, ...partsOf(result) },
  };
}

/**
 * What a row and its candidates are compared by: fields of the row first, then all others. Names
 * of candidates stand above them, and are only compared where the row has one too.
 */
export function fieldsOf(row: unknown, candidates: readonly Candidate[]): string[] {
  const theirs = candidates.flatMap(({ values }) => Object.keys(values));
  return [
    ...new Set([...Object.keys(partsOf(row)), ...theirs.filter((field) => field !== "name")]),
  ];
}

/** Whether two values say the same to a person, who reads over case and spaces. */
export function isAlike(one: unknown, other: unknown): boolean {
  const words = plain(one);
  return words !== "" && words === plain(other);
}

function plain(value: unknown): string {
  return inLine(value).trim().toLowerCase().replace(/\s+/g, " ");
}
