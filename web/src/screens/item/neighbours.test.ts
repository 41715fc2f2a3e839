import { describe, expect, it } from "vitest";
import type { Item } from "../../api";
import { neighboursOf } from "./neighbours";

function rowsOf(...ids: (string | undefined)[]) {
  return {
    count: ids.length,
    row: (index: number) => (ids[index] ? ({ id: ids[index] } as Item) : undefined),
  };
}

describe("neighbours of an item in a list", () => {
  it("are those beside it", () => {
    expect(neighboursOf(rowsOf("a", "b", "c"), "b", 1)).toEqual({
      index: 1,
      previous: "a",
      next: "c",
    });
  });

  it("are found although the row has moved", () => {
    expect(neighboursOf(rowsOf("x", "a", "b"), "a", 0)).toMatchObject({ index: 1, previous: "x" });
  });

  it("are not there at the ends, nor where pages are not loaded", () => {
    expect(neighboursOf(rowsOf("a"), "a", null)).toEqual({
      index: 0,
      previous: undefined,
      next: undefined,
    });
    expect(neighboursOf(rowsOf(undefined, "b"), "b", 1).previous).toBeUndefined();
    expect(neighboursOf(rowsOf("a"), "z", null).index).toBeNull();
  });
});
