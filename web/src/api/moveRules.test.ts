import { describe, expect, it } from "vitest";
import { countsOf } from "../testing/counts";
import { countOf, isUnfinished, mayMove, mayMoveItem } from "./moveRules";

describe("legal moves", () => {
  it("follow the program's table", () => {
    expect(mayMove({ state: "RUNNING" }, "pause")).toBe(true);
    expect(mayMove({ state: "DONE" }, "pause")).toBe(false);
    expect(mayMove({ state: "PAUSED" }, "resume")).toBe(true);
    expect(mayMoveItem("REVIEW", "accept")).toBe(true);
    expect(mayMoveItem("PENDING", "requeue")).toBe(false);
    expect(isUnfinished({ state: "PAUSED" })).toBe(true);
    expect(isUnfinished({ state: "FAILED" })).toBe(false);
  });
});

it("counts the items of a status", () => {
  const counts = countsOf({ pending: 1, notFound: 3, error: 2 });
  expect(countOf(counts, "NOT_FOUND")).toBe(3);
  expect(countOf(counts, "unheard of")).toBe(0);
});
