import { describe, expect, it } from "vitest";
import { checked, EMPTY_FORM } from "./newMirror";

describe("the request for a new mirror", () => {
  it("names a shipped source, with its values", () => {
    const form = { ...EMPTY_FORM, source: " kinto ", values: "url=http://a/?b=c\n\n x = 1 " };
    expect(checked(form)).toEqual({
      request: { source: "kinto", set: { url: "http://a/?b=c", x: "1" } },
    });
  });

  it("has a description as JSON, and what else was given", () => {
    const form = { source: '{"client": {}}', values: "", name: "shop", rate: "100/min" };
    expect(checked(form)).toEqual({
      request: { source: { client: {} }, name: "shop", rate: "100/min" },
    });
  });

  it("is refused if the description is broken or a value has no name", () => {
    expect(checked({ ...EMPTY_FORM, source: '{"client": ' })).toMatchObject({ field: "source" });
    expect(checked({ ...EMPTY_FORM, source: "kinto", values: "=1" })).toEqual({
      field: "values",
      problem: "Write “=1” as name=value.",
    });
  });
});
