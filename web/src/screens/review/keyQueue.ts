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

const MOST = 50;

/** Adds a key, up to a maximum; further keys are dropped. */
export function withKey(keys: Keys, key: string): Keys {
  return keys.length < MOST ? [...keys, key] : keys;
}

export interface Played {
  /** Index of the candidate that is then selected. */
  place: number;
  decision: DecisionKey | null;
  /** Keys for the next items. */
  rest: Keys;
}

/** The effect of keys on an item with `count` candidates, up to the first decision. */
export function played(keys: Keys, place: number, count: number): Played {
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
