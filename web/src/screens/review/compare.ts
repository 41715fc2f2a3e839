import { inLine, partsOf } from "../../design";

/** A possible result of an item. */
export interface Candidate {
  id: string;
  name: string;
  /** The handler's score, as text. */
  score: string;
  /** Fields of the candidate. Its result becomes the item's. */
  values: Values;
}

type Values = Readonly<Record<string, unknown>>;

/** The candidates in the result of an item in REVIEW. One without an id cannot be accepted. */
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
 * The fields to compare: the row's first, then all others. The name of a candidate is in the
 * header, and is compared only if the row has one too.
 */
export function fieldsOf(row: unknown, candidates: readonly Candidate[]): string[] {
  const theirs = candidates.flatMap(({ values }) => Object.keys(values));
  return [
    ...new Set([...Object.keys(partsOf(row)), ...theirs.filter((field) => field !== "name")]),
  ];
}

/** True if two values are equal except for case and spaces. */
export function isAlike(one: unknown, other: unknown): boolean {
  const words = plain(one);
  return words !== "" && words === plain(other);
}

function plain(value: unknown): string {
  return inLine(value).trim().toLowerCase().replace(/\s+/g, " ");
}
