import { expect, it } from "vitest";
import { shareOf } from "./ConfigurationTab";

it("says what a priority does", () => {
  expect([shareOf(0), shareOf(3), shareOf(-1)]).toEqual([
    "as much as the others",
    "8 times as much (+3)",
    "1/2 as much (-1)",
  ]);
});
