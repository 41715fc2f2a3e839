import { expect, it } from "vitest";
import { sentence } from "./sentence";

it("makes a sentence of what the server says", () => {
  expect(sentence("there is no job 7")).toBe("There is no job 7.");
  expect(sentence("Is it there?")).toBe("Is it there?");
});
