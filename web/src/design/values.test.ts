import { expect, it } from "vitest";
import { inLine, partsOf } from "./values";

it("says any stored value in one line", () => {
  expect([inLine("a"), inLine(3.5), inLine(false), inLine(null)]).toEqual([
    "a",
    "3.5",
    "false",
    "",
  ]);
  expect(inLine({ a: [1, null] })).toBe('{"a":[1,null]}');
});

it("finds parts in objects only", () => {
  expect(partsOf({ a: 1 })).toEqual({ a: 1 });
  expect([partsOf([1]), partsOf("a"), partsOf(null)]).toEqual([{}, {}, {}]);
});
