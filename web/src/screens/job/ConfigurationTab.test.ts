import { expect, it } from "vitest";
import { shareOf } from "./ConfigurationTab";

it("says what a priority does", () => {
  expect([shareOf(0), shareOf(3), shareOf(-1)]).toEqual(["Normal", "8× (+3)", "1/2× (-1)"]);
});
