import { describe, expect, it } from "vitest";
import { dayToMoment, momentToDay, statusesOf } from "./choices";

describe("the statuses of the pending view", () => {
  it("are those of open items unless the URL names others", () => {
    expect(statusesOf(undefined)).toEqual(["PENDING", "PROCESSING"]);
    expect(statusesOf("ERROR")).toEqual(["ERROR"]);
  });
});

describe("a range of days", () => {
  it("holds its last day as a whole", () => {
    const from = new Date(dayToMoment("2026-03-01") ?? "");
    const to = new Date(dayToMoment("2026-03-01", { next: true }) ?? "");
    expect(from.getHours()).toBe(0);
    expect(to.getDate()).toBe(2);
    expect(to.getTime()).toBeGreaterThan(from.getTime());
  });

  it("is shown as it was chosen", () => {
    expect(momentToDay(dayToMoment("2026-12-31"))).toBe("2026-12-31");
    expect(momentToDay(dayToMoment("2026-12-31", { next: true }), { next: true })).toBe(
      "2026-12-31",
    );
  });

  it("is open where nothing sensible was given", () => {
    expect(dayToMoment("yesterday")).toBeUndefined();
    expect(momentToDay("yesterday")).toBe("");
    expect(momentToDay(undefined)).toBe("");
  });
});
