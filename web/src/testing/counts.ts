import type { Counts } from "../api";
import { ITEM_DISPLAY } from "../api/moves";

/** Counts of a job with these numbers, which add up to `total`; all others are 0. */
export function countsOf(given: Partial<Counts>): Counts {
  const zeros = Object.values(ITEM_DISPLAY).map(({ counter }) => [counter, 0]);
  const total = Object.values(given).reduce((sum, count) => sum + count, 0);
  return { total, ...(Object.fromEntries(zeros) as Omit<Counts, "total">), ...given };
}
