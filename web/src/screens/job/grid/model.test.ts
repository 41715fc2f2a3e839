import { describe, expect, it } from "vitest";
import { classesIn, hiddenBy, namesIn, toggledIn } from "./model";

const OFFERS = [
  { id: "key", isShown: true },
  { id: "status", isShown: true },
  { id: "result.a,b", isShown: false },
];

describe("chosen columns", () => {
  it("are the default ones until a user chooses", () => {
    expect(hiddenBy(OFFERS, undefined)).toEqual(["result.a,b"]);
  });

  it("stand in the URL once they differ from the default", () => {
    const more = toggledIn(OFFERS, undefined, "result.a,b");
    expect(more).toBe("key,status,result.a%2Cb");
    expect(hiddenBy(OFFERS, more)).toEqual([]);
    expect(toggledIn(OFFERS, more, "result.a,b")).toBeUndefined();
  });

  it("are never none at all", () => {
    const one = toggledIn(OFFERS, undefined, "key");
    expect(hiddenBy(OFFERS, one)).toEqual(["key", "result.a,b"]);
    expect(toggledIn(OFFERS, one, "status")).toBeUndefined();
  });
});

it("adds failures of a class up over the ways to say it", () => {
  const group = (errorClass: string, count: number) => ({
    errorClass,
    count,
    signature: `${errorClass} ${count}`,
    example: { itemId: "1", reason: "" },
  });
  expect(classesIn([group("timeout", 5), group("server", 9), group("timeout", 6)])).toEqual([
    { name: "timeout", count: 11 },
    { name: "server", count: 9 },
  ]);
});

it("finds the names that results use, each once", () => {
  const done = (result: unknown) => ({ status: "DONE", result });
  const review = { status: "REVIEW", result: { candidates: [] } };
  const rows = [done({ a: 1 }), done(null), undefined, review, done({ b: 2, a: 3 })];
  expect(namesIn(rows.length, (index) => rows[index])).toEqual(["a", "b"]);
  expect(namesIn(2, () => done(["not", "named"]))).toEqual([]);
});
