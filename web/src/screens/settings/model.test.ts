import { describe, expect, it } from "vitest";
import type { User } from "../../api";
import {
  healthInWords,
  lifetimeOf,
  partInWords,
  rolesUpTo,
  schemaInWords,
  trendOf,
  withSample,
} from "./model";
import { actionsOf } from "./userColumns";

const samples = (...depths: number[]) => depths.map((depth, n) => ({ at: n * 5, depth }));

describe("the health of the service", () => {
  it("says what to do about each thing that is wrong", () => {
    const titles = ["ok", "store", "not running", "no workers", "stalled", "slow"].map(
      (status) => healthInWords({ status }).title,
    );
    expect(new Set(titles).size).toBe(6);
    expect(healthInWords({ status: "no workers" }).todo).toContain("headgate worker");
  });

  it("names the part of the server that does not run", () => {
    const told = healthInWords({ status: "not running", notRunning: ["file worker"] });
    expect(told.title).toBe("Not running: file worker");
    const part = { name: "x", alive: true, silentS: 0, allowedS: 30, restarts: 0, lastError: null };
    expect(partInWords(part)).toBe("running");
    const killed = { ...part, alive: false, restarts: 2, lastError: "its process ended" };
    expect(partInWords(killed)).toBe(
      "not running; restarted 2 times, last because: its process ended",
    );
  });

  it("says when a migration is due", () => {
    const database = { schemaVersion: 6, latestSchemaVersion: 7 } as Parameters<
      typeof schemaInWords
    >[0];
    expect(schemaInWords(database)).toContain("headgate db migrate");
    expect(schemaInWords({ ...database, schemaVersion: 7 })).toBe("7, current");
  });
});

describe("where the queue goes", () => {
  it("is not said of a few moments", () => {
    expect(trendOf([])).toBeNull();
    expect(trendOf(samples(0, 10_000))).toBeNull();
  });

  it("is seen from its depth over time", () => {
    expect(trendOf(samples(100, 200, 300, 400, 500, 600))).toBe("grows");
    expect(trendOf(samples(600, 500, 400, 300, 200, 100))).toBe("shrinks");
    expect(trendOf(samples(100_000, 100_300, 99_900, 100_100, 100_200, 100_900))).toBe("steady");
    expect(trendOf(samples(0, 1, 0, 2, 1, 3))).toBe("steady");
  });

  it("is kept for a while only, each moment once", () => {
    let kept: readonly { at: number; depth: number }[] = [];
    for (let at = 0; at < 300; at += 1) kept = withSample(kept, { at, depth: at });
    expect(kept).toHaveLength(240);
    expect(withSample(kept, { at: 299, depth: 5 })).toBe(kept);
  });
});

const user = (change: Partial<User> = {}): User => ({
  name: "ann",
  role: "user",
  hasPassword: true,
  createdAt: "2026-03-01T12:00:00+00:00",
  disabledAt: null,
  ...change,
});
const nothing = () => {};
const labels = (of: User, me: string) =>
  actionsOf(of, { me, onChange: nothing, onDisable: nothing }).map(({ label }) => label);

describe("what may be done about a user", () => {
  it("is to lock them out, but never oneself", () => {
    expect(labels(user(), "bob")).toContain("Disable…");
    expect(labels(user(), "ann")).not.toContain("Disable…");
  });

  it("is to let them in again once they are locked out", () => {
    const gone = user({ disabledAt: "2026-03-02T12:00:00+00:00" });
    expect(labels(gone, "bob")).toEqual(["Enable…"]);
  });
});

describe("a new token", () => {
  it("never has more rights than the user who makes it", () => {
    expect(rolesUpTo("viewer").map(({ value }) => value)).toEqual(["viewer"]);
    expect(rolesUpTo("admin").map(({ value }) => value)).toEqual(["viewer", "user", "admin"]);
  });

  it("expires unless it is made without an end", () => {
    expect(lifetimeOf("86400")).toEqual({ expiresInS: 86_400 });
    expect(lifetimeOf("")).toEqual({});
  });
});
