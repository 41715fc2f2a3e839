import { describe, expect, it } from "vitest";
import { decidedInWords, isStep, seenInWords } from "./evidence";

describe("evidence", () => {
  it.each([
    ["refused at 6.11/s", "Refused at 6.11/s"],
    ["surprise, refused at 5.72/s", "Without a try for more, refused at 5.72/s"],
    ["window 100 in 60 s, refused at 2/s", "It counts 100 in 60 s, refused at 2/s"],
    ["503s come at any rate, refused at 2/s", "503s come at any rate, refused at 2/s"],
  ])("%s is said as %s", (seen, words) => expect(seenInWords(seen)).toBe(words));

  it.each([
    ["ask in 0.68 s", "one request asks again in 0.68 s"],
    ["hold for 200 s", "stays just below it for 200 s"],
    ["something new", "something new"],
  ])("%s is decided as %s", (decided, words) => expect(decidedInWords(decided)).toBe(words));

  it("is a step where the rate changed", () => {
    expect(isStep({ before: null, after: 2 })).toBe(true);
    expect(isStep({ before: 2, after: 2 })).toBe(false);
    expect(isStep({ before: 2, after: null })).toBe(false);
  });
});
