import { describe, expect, it } from "vitest";
import { only, parseSearch, stringifySearch } from "./urlState";

describe("what stands in the URL", () => {
  it("is plain text, there and back", () => {
    const search = { q: "a&b = ü", statuses: "ERROR,REVIEW", page: "007" };
    expect(parseSearch(stringifySearch(search))).toEqual(search);
    expect(stringifySearch({ statuses: "ERROR,REVIEW", q: "", tab: undefined })).toBe(
      "?statuses=ERROR,REVIEW",
    );
    expect(stringifySearch({})).toBe("");
  });

  it("is only what the screen knows", () => {
    expect(only("q", "tab")({ q: "x", tab: "", evil: "y", n: 3 })).toEqual({ q: "x" });
  });
});
