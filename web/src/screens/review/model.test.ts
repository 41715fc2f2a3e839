import { describe, expect, it } from "vitest";
import type { Item } from "../../api";
import {
  afterDeciding,
  applyKeys,
  candidatesIn,
  fieldsOf,
  isAlike,
  openFrom,
  placeOf,
  withKey,
} from "./model";

describe("candidates", () => {
  it("are known by what they say and by the result that they bring", () => {
    const result = {
      candidates: [
        { id: 7, name: "Earth", score: 0.6, kind: "planet", result: { match: "Q2" } },
        { name: "without an id" },
        "no candidate at all",
      ],
    };
    expect(candidatesIn(result)).toEqual([
      {
        id: "7",
        name: "Earth",
        score: "0.6",
        values: { name: "Earth", kind: "planet", match: "Q2" },
      },
    ]);
  });

  it("are called by their id if they have no name", () => {
    expect(candidatesIn({ candidates: [{ id: "Q2" }] })[0]?.name).toBe("Q2");
  });

  it("are none where the result is of another kind", () => {
    for (const result of [null, "text", [], {}, { candidates: "many" }]) {
      expect(candidatesIn(result)).toEqual([]);
    }
  });
});

describe("the comparison", () => {
  it("has the fields of the row first, and each field once", () => {
    const candidates = candidatesIn({
      candidates: [
        { id: 1, result: { title: "a", year: 1 } },
        { id: 2, result: { year: 2 } },
      ],
    });
    expect(fieldsOf({ isbn: "9", title: "A" }, candidates)).toEqual(["isbn", "title", "year"]);
    expect(fieldsOf("a line", candidates)).toEqual(["title", "year"]);
  });

  it("reads over case and spaces, and takes nothing for no likeness", () => {
    expect(isAlike("The  Sea", "the sea ")).toBe(true);
    expect(isAlike(1984, "1984")).toBe(true);
    expect(isAlike("sea", "see")).toBe(false);
    expect(isAlike("", "")).toBe(false);
    expect(isAlike(undefined, undefined)).toBe(false);
  });

  it("compares names where the row has one; else they only stand above", () => {
    const candidates = candidatesIn({ candidates: [{ id: 1, name: "Sea" }] });
    expect(fieldsOf({ name: "sea" }, candidates)).toEqual(["name"]);
    expect(fieldsOf({ title: "sea" }, candidates)).toEqual(["title"]);
  });
});

describe("keys pressed before the next item is there", () => {
  it("decide one item each, in order", () => {
    const first = applyKeys(["a", "a", "n", "s"], 0, 2);
    expect(first).toEqual({ place: 0, decision: "a", rest: ["a", "n", "s"] });
    expect(applyKeys(first.rest, 0, 2).rest).toEqual(["n", "s"]);
  });

  it("choose the candidate that they would have chosen", () => {
    expect(applyKeys(["2", "a", "a"], 0, 3)).toEqual({ place: 1, decision: "a", rest: ["a"] });
    expect(applyKeys(["ArrowLeft", "n"], 0, 3)).toMatchObject({ place: 2, decision: "n" });
    expect(applyKeys(["ArrowRight", "ArrowRight"], 0, 2)).toMatchObject({
      place: 0,
      decision: null,
    });
    expect(applyKeys(["9", "a"], 1, 2).place).toBe(1);
    expect(applyKeys(["1", "a"], 0, 0).place).toBe(0);
  });

  it("are not kept without end", () => {
    let keys: readonly string[] = [];
    for (let n = 0; n < 500; n += 1) keys = withKey(keys, "a");
    expect(keys.length).toBe(50);
  });
});

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
