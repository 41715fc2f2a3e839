/**
 * Browsers draw nothing below some 16 to 33 million pixels, so a long list is shown in windows of
 * this many rows.
 */
export const WINDOW_ROWS = 200_000;
export const SHIFT_ROWS = 100_000;

/** Number of rows in the window that starts at `base`. */
export function windowLength(count: number, base: number): number {
  return Math.max(0, Math.min(count - base, WINDOW_ROWS));
}

/** The start of the window to show when its row `first` is at the top. */
export function rebased(base: number, first: number, count: number): number {
  const isNearEnd = first > WINDOW_ROWS - SHIFT_ROWS / 2 && count - base > WINDOW_ROWS;
  if (isNearEnd) return base + SHIFT_ROWS;
  if (first < SHIFT_ROWS / 4 && base > 0) return Math.max(0, base - SHIFT_ROWS);
  return base;
}
