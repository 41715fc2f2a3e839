import type { Item, Rows } from "../../api";
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

/** Keys that were pressed while the previous item was being decided, oldest first. */
export type Keys = readonly string[];

const DECISIONS = ["a", "n", "s"] as const;
export type DecisionKey = (typeof DECISIONS)[number];

/** All keys that act on an item in review. */
export const REVIEW_KEYS: Keys = [
  ...DECISIONS,
  "ArrowLeft",
  "ArrowRight",
  ...Array.from({ length: 9 }, (_, n) => String(n + 1)),
];

const MOST_KEYS = 50;

/** Adds a key, up to a maximum; further keys are dropped. */
export function withKey(keys: Keys, key: string): Keys {
  return keys.length < MOST_KEYS ? [...keys, key] : keys;
}

export interface AfterKeys {
  /** Index of the candidate that is then selected. */
  place: number;
  decision: DecisionKey | null;
  /** Keys for the next items. */
  rest: Keys;
}

/** The effect of keys on an item with `count` candidates, up to the first decision. */
export function applyKeys(keys: Keys, place: number, count: number): AfterKeys {
  let at = place;
  for (const [index, key] of keys.entries()) {
    const decision = DECISIONS.find((each) => each === key);
    if (decision) return { place: at, decision, rest: keys.slice(index + 1) };
    at = moved(key, at, count);
  }
  return { place: at, decision: null, rest: [] };
}

function moved(key: string, place: number, count: number): number {
  if (count === 0) return 0;
  if (key === "ArrowRight") return (place + 1) % count;
  if (key === "ArrowLeft") return (place - 1 + count) % count;
  const digit = Number(key) - 1;
  return digit >= 0 && digit < count ? digit : place;
}

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
