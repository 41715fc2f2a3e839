import { expect, it } from "vitest";
import { classesIn } from "./facets";

it("adds failures of a class up over the ways to say it", () => {
  const group = (errorClass: string, count: number) => ({
    errorClass,
    count,
    signature: `${errorClass} ${count}`,
    example: { itemId: "1", reason: "" },
  });
  expect(classesIn([group("timeout", 5), group("server", 9), group("timeout", 6)])).toEqual([
    { name: "timeout", count: 11 },
    { name: "server", count: 9 },
  ]);
});
