import { expect, it } from "vitest";
import { toneOf, wordOf } from "./eventKinds";

it("has a word for every kind, also for one that it does not know", () => {
  expect(wordOf("job_state")).toBe("State");
  expect(wordOf("moon_landed")).toBe("Moon landed");
  expect(toneOf("moon_landed")).toBe("pending");
});
