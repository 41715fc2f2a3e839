import { expect, it } from "vitest";
import { chosenInWords } from "./SelectionBar";

it("says what was chosen", () => {
  expect(chosenInWords({ everything: false, ids: new Set(["1", "2"]) }, 9)).toBe("2 rows selected");
  expect(chosenInWords({ everything: true, ids: new Set() }, 1204)).toBe(
    "All 1,204 matching rows selected",
  );
  const but = chosenInWords({ everything: true, ids: new Set(["1"]) }, undefined);
  expect(but).toBe("All matching rows selected, except 1");
});
