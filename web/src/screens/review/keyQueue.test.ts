import { describe, expect, it } from "vitest";
import { played, withKey } from "./keyQueue";

describe("keys pressed before the next item is there", () => {
  it("decide one item each, in order", () => {
    const first = played(["a", "a", "n", "s"], 0, 2);
    expect(first).toEqual({ place: 0, decision: "a", rest: ["a", "n", "s"] });
    expect(played(first.rest, 0, 2).rest).toEqual(["n", "s"]);
  });

  it("choose the candidate that they would have chosen", () => {
    expect(played(["2", "a", "a"], 0, 3)).toEqual({ place: 1, decision: "a", rest: ["a"] });
    expect(played(["ArrowLeft", "n"], 0, 3)).toMatchObject({ place: 2, decision: "n" });
    expect(played(["ArrowRight", "ArrowRight"], 0, 2)).toMatchObject({ place: 0, decision: null });
    expect(played(["9", "a"], 1, 2).place).toBe(1);
    expect(played(["1", "a"], 0, 0).place).toBe(0);
  });

  it("are not kept without end", () => {
    let keys: readonly string[] = [];
    for (let n = 0; n < 500; n += 1) keys = withKey(keys, "a");
    expect(keys.length).toBe(50);
  });
});
