import { expect, it } from "vitest";
import { chosenInWords } from "./SelectionBar";

it("says what was chosen", () => {
  expect(chosenInWords({ everything: false, ids: new Set(["1", "2"]) }, 9)).toBe("2 chosen");
  expect(chosenInWords({ everything: true, ids: new Set() }, 1204)).toBe(
    "All 1,204 that match are chosen",
  );
  const but = chosenInWords({ everything: true, ids: new Set(["1"]) }, undefined);
  expect(but).toBe("All that match are chosen, but 1");
});
