import { describe, expect, it } from "vitest";
import { isUnfinished, mayMove, mayMoveItem } from "./legal";

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
