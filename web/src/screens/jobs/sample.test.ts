import { describe, expect, it } from "vitest";
import { SAMPLE_JOB } from "./sample";

describe("the sample", () => {
  it("has every word once: it is the key", () => {
    const words = SAMPLE_JOB.items?.map((item) => item.word) ?? [];
    expect(new Set(words).size).toBe(words.length);
  });
});
