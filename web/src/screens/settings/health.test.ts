import { describe, expect, it } from "vitest";
import { healthInWords, partInWords, schemaInWords, trendOf, withSample } from "./health";

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
