import { expect, it } from "vitest";
import { inWords } from "./SelectionBar";

it("says what was chosen", () => {
  expect(inWords({ everything: false, ids: new Set(["1", "2"]) }, 9)).toBe("2 chosen");
  expect(inWords({ everything: true, ids: new Set() }, 1204)).toBe(
    "All 1,204 that match are chosen",
  );
  const but = inWords({ everything: true, ids: new Set(["1"]) }, undefined);
  expect(but).toBe("All that match are chosen, but 1");
});
