import { describe, expect, it } from "vitest";
import type { Attempt, Call, Item } from "../../api";
import {
  attemptsInWords,
  curlOf,
  curlOfApi,
  neighboursOf,
  splitOf,
  titleOf,
  totalOf,
} from "./model";

it("calls an item by its key and by what its row says beyond that", () => {
  expect(titleOf({ key: "5", summary: "5 · name 5 · fail" }, "9")).toBe("5 · name 5 · fail");
  expect(titleOf({ key: "k", summary: "a chair" }, "9")).toBe("k · a chair");
  expect(titleOf({ key: "5", summary: "5" }, "9")).toBe("Item 5");
  expect(titleOf(undefined, "9")).toBe("Item 9");
});

it("writes a call as a command that a shell takes as it is", () => {
  const url = "https://api.example/a?q=it's&key=***";
  expect(curlOf({ verb: "GET", url })).toBe(`curl 'https://api.example/a?q=it'\\''s&key=***'`);
  expect(curlOf({ verb: "POST", url: "https://api.example/" })).toBe(
    "curl -X POST 'https://api.example/'",
  );
  expect(curlOf({ verb: "GET", url: "" })).toBeNull();
});

it("never writes a token down", () => {
  expect(curlOfApi("http://127.0.0.1:8470", "/api/items/7")).toBe(
    `curl -H "Authorization: Bearer $HEADGATE_TOKEN" 'http://127.0.0.1:8470/api/items/7'`,
  );
});

function rowsOf(...ids: (string | undefined)[]) {
  return {
    count: ids.length,
    row: (index: number) => (ids[index] ? ({ id: ids[index] } as Item) : undefined),
  };
}

describe("neighbours of an item in a list", () => {
  it("are those beside it", () => {
    expect(neighboursOf(rowsOf("a", "b", "c"), "b", 1)).toEqual({
      index: 1,
      previous: "a",
      next: "c",
    });
  });

  it("are found although the row has moved", () => {
    expect(neighboursOf(rowsOf("x", "a", "b"), "a", 0)).toMatchObject({ index: 1, previous: "x" });
  });

  it("are not there at the ends, nor where pages are not loaded", () => {
    expect(neighboursOf(rowsOf("a"), "a", null)).toEqual({
      index: 0,
      previous: undefined,
      next: undefined,
    });
    expect(neighboursOf(rowsOf(undefined, "b"), "b", 1).previous).toBeUndefined();
    expect(neighboursOf(rowsOf("a"), "z", null).index).toBeNull();
  });
});

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
    expect(attemptsInWords(0, crashes)).toBe("Attempts (0, and 3 not counted)");
    expect(attemptsInWords(1, [...crashes, attempt({ outcome: "done" })])).toBe(
      "Attempts (1, and 3 not counted)",
    );
    expect(attemptsInWords(1, [attempt({ outcome: "done" })])).toBe("Attempts (1)");
  });
});
