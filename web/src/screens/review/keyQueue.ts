/** Keys that were pressed while the item before was still being decided, oldest first. */
export type Keys = readonly string[];

const DECISIONS = ["a", "n", "s"] as const;
export type DecisionKey = (typeof DECISIONS)[number];

/** Every key that does something with an item in review. */
export const REVIEW_KEYS: Keys = [
  ...DECISIONS,
  "ArrowLeft",
  "ArrowRight",
  ...Array.from({ length: 9 }, (_, n) => String(n + 1)),
];

const MOST = 50;

/** The keys with one more; beyond a number that nobody means, further ones are dropped. */
export function withKey(keys: Keys, key: string): Keys {
  return keys.length < MOST ? [...keys, key] : keys;
}

export interface Played {
  /** The candidate that is then chosen. */
  place: number;
  decision: DecisionKey | null;
  /** Keys for the items after this one. */
  rest: Keys;
}

/** What keys do with an item of so many candidates: up to the first that decides it. */
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
