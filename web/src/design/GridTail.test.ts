import { expect, it } from "vitest";
import { extentOf } from "./GridTail";

it("says how far a list goes", () => {
  expect(extentOf({ count: 1, complete: true }, undefined)).toBe("1 row");
  expect(extentOf({ count: 1_204, complete: true }, 9)).toBe("All 1,204 rows");
  expect(extentOf({ count: 200, complete: false }, 60_000)).toBe("200 of 60,000 rows");
  expect(extentOf({ count: 200, complete: false }, undefined)).toBe("200 rows loaded");
});

it("never says that more are there than there are", () => {
  expect(extentOf({ count: 200, complete: false }, 150)).toBe("200 rows loaded");
});
