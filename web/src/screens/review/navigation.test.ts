import { describe, expect, it } from "vitest";
import type { Item } from "../../api";
import { afterDeciding, openFrom, placeOf } from "./navigation";

function line(...ids: (string | undefined)[]) {
  return {
    count: ids.length,
    row: (index: number) => (ids[index] ? ({ id: ids[index] } as Item) : undefined),
  };
}

const NONE = new Set<string>();

describe("the walk through what waits", () => {
  it("knows where an item stands", () => {
    expect(placeOf(line("a", "b"), "b")).toBe(1);
    expect(placeOf(line("a", "b"), "z")).toBe(-1);
    expect(placeOf(line(undefined, "b"), undefined)).toBe(-1);
  });

  it("passes over what is decided but still listed", () => {
    expect(openFrom(line("a", "b", "c"), 0, 1, new Set(["a", "b"]))).toBe("c");
    expect(openFrom(line("a", "b", "c"), 2, -1, new Set(["c", "b"]))).toBe("a");
  });

  it("does not jump over rows that are on the way", () => {
    expect(openFrom(line("a", undefined, "c"), 1, 1, NONE)).toBeUndefined();
  });

  it("goes on after a decision, back at the end, and notFound when all is done", () => {
    expect(afterDeciding(line("a", "b", "c"), 1, new Set(["b"]))).toBe("c");
    expect(afterDeciding(line("a", "b"), 1, new Set(["b"]))).toBe("a");
    expect(afterDeciding(line("a"), 0, new Set(["a"]))).toBeUndefined();
  });
});
