import { describe, expect, it } from "vitest";
import { parsed, settingsOf, withSetting } from "./settings";

describe("settings of a handler", () => {
  it("are fields of the kind that its schema says", () => {
    const settings = settingsOf({
      required: ["service"],
      properties: {
        service: { type: "string", title: "Service", description: "Whom to ask." },
        limit: { type: "integer", default: 3 },
        exact: { type: "boolean" },
        order: { enum: ["new", "old"] },
        lookup: { type: "object" },
        apiKey: { type: "string", format: "password" },
      },
    });
    expect(settings?.map(({ kind }) => kind)).toEqual([
      "text",
      "number",
      "switch",
      "choice",
      "json",
      "password",
    ]);
    expect(settings?.[0]).toMatchObject({
      label: "Service",
      about: "Whom to ask.",
      required: true,
    });
    expect(settings?.[1]).toMatchObject({ label: "limit", standard: 3, required: false });
    expect(settings?.[3]?.choices).toEqual(["new", "old"]);
  });

  it("are anything where there is no schema, or one that names nothing", () => {
    expect(settingsOf(null)).toBeNull();
    expect(settingsOf({ type: "object" })).toBeNull();
  });

  it("are left out while they are empty", () => {
    expect(withSetting({ a: 1 }, "b", "x")).toEqual({ a: 1, b: "x" });
    expect(withSetting({ a: 1 }, "a", "")).toEqual({});
    expect(withSetting({ a: 1 }, "a", false)).toEqual({ a: false });
  });
});

describe("JSON that somebody writes", () => {
  it("is a value, nothing, or a problem", () => {
    expect(parsed('{"a": 1}')).toEqual({ value: { a: 1 }, problem: "" });
    expect(parsed("  ")).toEqual({ problem: "" });
    expect(parsed("{a}").problem).toContain("not JSON");
  });
});
