import { describe, expect, it } from "vitest";
import { rebased, SHIFT_ROWS, WINDOW_ROWS, windowLength } from "./gridModel";

describe("the part of a long list that is laid out", () => {
  it("is all of a list that is not too long", () => {
    expect(windowLength(150_000, 0)).toBe(150_000);
    expect(rebased(0, 149_000, 150_000)).toBe(0);
  });

  it("follows the view to the end of millions of rows, and back", () => {
    const count = 3_000_000;
    let base = 0;
    for (let row = 0; row < count; row += 500) base = rebased(base, row - base, count);
    expect(base + windowLength(count, base)).toBe(count);
    for (let row = count; row >= 0; row -= 500) base = rebased(base, row - base, count);
    expect(base).toBe(0);
  });

  it("does not move to and fro", () => {
    const count = 1_000_000;
    const first = WINDOW_ROWS - SHIFT_ROWS / 2 + 1;
    const moved = rebased(0, first, count);
    expect(rebased(moved, first - moved, count)).toBe(moved);
  });
});
