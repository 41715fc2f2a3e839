import { describe, expect, it } from "vitest";
import { isStep, sentence } from "./evidence";

describe("evidence", () => {
  it("is said as the server words it", () => {
    const line = {
      seen: "refused at 300/s, below the known limit",
      decided: "limit lowered to 279/s, next probe in 30 s",
    };
    expect(sentence(line)).toBe(
      "Refused at 300/s, below the known limit – limit lowered to 279/s, next probe in 30 s",
    );
  });

  it("is a step where the rate changed", () => {
    expect(isStep({ before: null, after: 2 })).toBe(true);
    expect(isStep({ before: 2, after: 2 })).toBe(false);
    expect(isStep({ before: 2, after: null })).toBe(false);
  });
});
