import { describe, expect, it } from "vitest";
import { limitsOf, parsed, settingsOf, withSetting } from "./settings";

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

  it("say what they allow", () => {
    const schema = (property: object) => settingsOf({ properties: { x: property } })?.[0];
    const said = (property: object) => {
      const setting = schema(property);
      return setting ? limitsOf(setting) : null;
    };
    expect(said({ type: "integer", minimum: 1, maximum: 365 })).toBe("1 to 365.");
    expect(said({ type: "number", minimum: 0 })).toBe("At least 0.");
    expect(said({ type: "string", maxLength: 3 })).toBe("At most 3 characters.");
    expect(said({ type: "string" })).toBe("");
  });

  it("are left out while they are empty", () => {
    expect(withSetting({ a: 1 }, "b", "x")).toEqual({ a: 1, b: "x" });
    expect(withSetting({ a: 1 }, "a", "")).toEqual({});
    expect(withSetting({ a: 1 }, "a", false)).toEqual({ a: false });
  });
});

describe("JSON that a user writes", () => {
  it("is a value, nothing, or a problem", () => {
    expect(parsed('{"a": 1}')).toEqual({ value: { a: 1 }, problem: "" });
    expect(parsed("  ")).toEqual({ problem: "" });
    expect(parsed("{a}").problem).toContain("not JSON");
  });
});
