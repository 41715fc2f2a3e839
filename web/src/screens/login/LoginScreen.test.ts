import { describe, expect, it } from "vitest";
import { ownPath } from "../../shell/urlState";

describe("where a login leads", () => {
  it.each([
    [undefined, "/"],
    ["/jobs/7?tab=errors", "/jobs/7?tab=errors"],
    ["//evil.example", "/"],
    ["/\\evil.example", "/"],
    ["https://evil.example", "/"],
    ["javascript:alert(1)", "/"],
  ])("%s is %s", (to, path) => expect(ownPath(to)).toBe(path));
});
