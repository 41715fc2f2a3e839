import { describe, expect, it } from "vitest";
import { candidatesIn, fieldsOf, isAlike } from "./compare";

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
