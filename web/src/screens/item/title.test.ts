import { expect, it } from "vitest";
import { titleOf } from "./title";

it("calls an item by its key and by what its row says beyond that", () => {
  expect(titleOf({ key: "5", summary: "5 · name 5 · fail" }, "9")).toBe("5 · name 5 · fail");
  expect(titleOf({ key: "k", summary: "a chair" }, "9")).toBe("k · a chair");
  expect(titleOf({ key: "5", summary: "5" }, "9")).toBe("Item 5");
  expect(titleOf(undefined, "9")).toBe("Item 9");
});
