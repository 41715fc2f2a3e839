import { describe, expect, it } from "vitest";
import { inLine, namesIn } from "./values";

describe("results in a grid", () => {
  it("shows values as people write them", () => {
    expect([inLine("a"), inLine(3.5), inLine(false), inLine(null)]).toEqual([
      "a",
      "3.5",
      "false",
      "",
    ]);
    expect(inLine({ a: [1] })).toBe('{"a":[1]}');
  });

  it("finds the names that results use, each once", () => {
    const done = (result: unknown) => ({ status: "DONE", result });
    const review = { status: "REVIEW", result: { candidates: [] } };
    const rows = [done({ a: 1 }), done(null), undefined, review, done({ b: 2, a: 3 })];
    expect(namesIn(rows.length, (index) => rows[index])).toEqual(["a", "b"]);
    expect(namesIn(2, () => done(["not", "named"]))).toEqual([]);
  });
});
