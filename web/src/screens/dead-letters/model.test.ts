import { describe, expect, it } from "vitest";
import { EVERYTHING, inWords, replayOf } from "./model";

describe("what is replayed", () => {
  it("is what was chosen, whatever the filter says", () => {
    const chosen = { everything: false, ids: new Set(["1", "2"]) };
    expect(replayOf(chosen, { errorClass: "timeout" })).toEqual({ itemIds: ["1", "2"] });
  });

  it("is all that matches the filter, and no more", () => {
    expect(replayOf(EVERYTHING, {})).toEqual({ all: true });
    expect(replayOf(EVERYTHING, { errorClass: "timeout", jobType: "shop.price" })).toEqual({
      all: true,
      errorClass: "timeout",
      jobType: "shop.price",
    });
  });

  it("leaves out what was taken out again", () => {
    const butOne = { everything: true, ids: new Set(["7"]) };
    expect(replayOf(butOne, {})).toEqual({ all: true, exceptIds: ["7"] });
  });

  it("is named before it is done", () => {
    expect(inWords({ itemIds: ["1"] })).toBe("The rows that you selected.");
    expect(inWords({ all: true, errorClass: "timeout", exceptIds: ["7"] })).toBe(
      "All dead letters of class “timeout” in all jobs, except 1.",
    );
  });
});
