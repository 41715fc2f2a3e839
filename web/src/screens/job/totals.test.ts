import { expect, it } from "vitest";
import { matchingOf } from "./totals";

const COUNTS = {
  total: 30,
  pending: 1,
  processing: 2,
  done: 20,
  notFound: 3,
  skipped: 0,
  review: 0,
  error: 4,
  cancelled: 0,
};

it("knows how many match from the counters, and says nothing where it cannot", () => {
  expect(matchingOf(COUNTS, {})).toBe(30);
  expect(matchingOf(COUNTS, { statuses: "ERROR,NOT_FOUND" })).toBe(7);
  expect(matchingOf(COUNTS, { statuses: "ERROR", q: "x" })).toBeUndefined();
  expect(matchingOf(COUNTS, { errorClass: "timeout" })).toBeUndefined();
});
