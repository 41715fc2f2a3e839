import { expect, it } from "vitest";
import { namesIn } from "./names";

it("finds the names that results use, each once", () => {
  const done = (result: unknown) => ({ status: "DONE", result });
  const review = { status: "REVIEW", result: { candidates: [] } };
  const rows = [done({ a: 1 }), done(null), undefined, review, done({ b: 2, a: 3 })];
  expect(namesIn(rows.length, (index) => rows[index])).toEqual(["a", "b"]);
  expect(namesIn(2, () => done(["not", "named"]))).toEqual([]);
});
