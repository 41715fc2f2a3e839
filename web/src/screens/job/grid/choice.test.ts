import { describe, expect, it } from "vitest";
import { hiddenBy, toggledIn } from "./choice";

const OFFERS = [
  { id: "key", isShown: true },
  { id: "status", isShown: true },
  { id: "result.a,b", isShown: false },
];

describe("chosen columns", () => {
  it("are the default ones until somebody chooses", () => {
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
