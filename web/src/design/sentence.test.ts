import { describe, expect, it } from "vitest";
import { sentence } from "./sentence";

describe("a sentence", () => {
  it.each([
    ["no row can be used", "No row can be used."],
    ["line 3: 2 values for 3 columns", "Line 3: 2 values for 3 columns."],
    ["empty.csv is empty", "empty.csv is empty."],
    [
      "my orders of may.xlsx has a header but no rows",
      "my orders of may.xlsx has a header but no rows.",
    ],
    ["https://a.example does not answer", "https://a.example does not answer."],
    ["max_age must be at most 365", "max_age must be at most 365."],
    ["is it there?", "Is it there?"],
    ["wrong name or password", "Wrong name or password."],
    ["nothing. empty.csv has gone", "Nothing. empty.csv has gone."],
  ])("of “%s” is “%s”", (text, said) => expect(sentence(text)).toBe(said));
});
