import { describe, expect, it } from "vitest";
import type { Attempt, Call } from "../../api";
import { attemptsTold, splitOf, totalOf } from "./timeline";

function call(changes: Partial<Call>): Call {
  return { kind: "fetched", waitedMs: 0, ranMs: 0, ...changes } as Call;
}

function attempt(changes: Partial<Attempt>): Attempt {
  return { leasedAt: null, endedAt: null, waitedMs: 0, ranMs: 0, calls: [], ...changes } as Attempt;
}

describe("where the time of an attempt went", () => {
  it("is split into waits and work", () => {
    const first = attempt({ endedAt: "2026-03-01T12:00:00Z" });
    const second = attempt({
      leasedAt: "2026-03-01T12:00:30Z",
      waitedMs: 5,
      ranMs: 1_000,
      calls: [call({ waitedMs: 600, ranMs: 300 }), call({ kind: "cached", ranMs: 50 })],
    });
    const split = splitOf(second, first);
    expect(split).toEqual({ retry: 30_000, queue: 5, gate: 600, network: 300, work: 100 });
    expect(totalOf(split)).toBe(31_005);
  });

  it("is the handler's own work where the handler itself asked to wait", () => {
    const split = splitOf(attempt({ outcome: "deferred", ranMs: 1_700 }), undefined);
    expect([split.gate, split.work]).toEqual([0, 1_700]);
  });

  it("was waited at the gate where nothing was let through", () => {
    const split = splitOf(attempt({ outcome: "throttled", ranMs: 29_000 }), undefined);
    expect([split.gate, split.work]).toEqual([29_000, 0]);
  });

  it("has no wait for a retry before the first attempt", () => {
    expect(splitOf(attempt({ leasedAt: "2026-03-01T12:00:30Z" }), undefined).retry).toBe(0);
  });

  it("does not take longer than it took where requests ran side by side", () => {
    const calls = [call({ ranMs: 900 }), call({ ranMs: 900, waitedMs: 200 })];
    const split = splitOf(attempt({ ranMs: 1_000, calls }), undefined);
    expect(split.gate + split.network).toBeCloseTo(1_000);
    expect(split.work).toBeCloseTo(0);
  });
});

describe("how often an item was attempted", () => {
  it("is the same number as in the grid, whatever else was run", () => {
    const crashes = Array.from({ length: 3 }, () => attempt({ outcome: "crashed" }));
    expect(attemptsTold(0, crashes)).toBe("Attempts (0, and 3 not counted)");
    expect(attemptsTold(1, [...crashes, attempt({ outcome: "done" })])).toBe(
      "Attempts (1, and 3 not counted)",
    );
    expect(attemptsTold(1, [attempt({ outcome: "done" })])).toBe("Attempts (1)");
  });
});
