import { describe, expect, it } from "vitest";
import type { Checkpoint, Difference, Mirror, Pass, Stream } from "../../api";
import {
  comparisonOf,
  differenceInWords,
  driftOf,
  passChoices,
  requestOf,
  secondsOf,
  streamRows,
  USUAL,
} from "./model";

const CHECKPOINT = {
  streamId: "2",
  mode: "full",
  added: 1,
  changed: 0,
  unchanged: 9,
  repeated: 3,
  total: 10,
  proof: "covered",
  evidence: { rounds: 0 },
  startedAt: "2026-03-01T12:00:00Z",
  completedAt: "2026-03-01T12:00:30Z",
} as unknown as Checkpoint;
const OPEN: Checkpoint = { ...CHECKPOINT, proof: null, evidence: null, completedAt: null };

function pass(state: string, ...checkpoints: Checkpoint[]): Pass {
  return { id: "7", checkpoints, job: { state, finishedAt: null } } as Pass;
}

it("shows the streams of the newest pass first", () => {
  const streams = [{ id: "1" }, { id: "2" }] as Stream[];
  const rows = streamRows({ streams, newest: pass("RUNNING", OPEN) } as Mirror);
  expect(rows.map(({ stream, checkpoint }) => [stream.id, checkpoint?.streamId])).toEqual([
    ["2", "2"],
    ["1", undefined],
  ]);
});

describe("drift", () => {
  it("is not that pages overlap", () => {
    expect(driftOf(CHECKPOINT)).toBe("");
  });

  it("is what was repaired, and what is still missing", () => {
    const evidence = { rounds: 2, gaps: [["a", "b"]] };
    expect(driftOf({ ...CHECKPOINT, evidence })).toBe("2 repairs, 1 gap");
  });

  it("is another number of rows than the source tells, once all were listed", () => {
    expect(driftOf({ ...CHECKPOINT, total: 12 })).toBe("source says 12 rows");
    expect(driftOf({ ...OPEN, total: 12 })).toBe("");
    expect(driftOf({ ...CHECKPOINT, total: 12, mode: "incremental" })).toBe("");
  });
});

describe("the duration of a pass", () => {
  it("ends with its last stream or its job", () => {
    const done = pass("DONE", CHECKPOINT);
    expect(secondsOf({ ...done, job: null })).toBe(30);
    const finishedAt = "2026-03-01T12:01:00Z";
    expect(secondsOf({ ...done, job: { ...done.job, finishedAt } } as Pass)).toBe(60);
  });

  it("is unknown while it runs", () => {
    expect(secondsOf(pass("RUNNING", CHECKPOINT))).toBeNull();
  });
});

describe("the request for a pass", () => {
  it("has no options if an interrupted pass continues", () => {
    const interrupted = pass("DONE", OPEN);
    expect(requestOf(interrupted, { ...USUAL, full: true })).toEqual({});
    expect(requestOf(interrupted, { ...USUAL, full: true, giveUp: true })).toEqual({
      full: true,
      newPass: true,
    });
  });

  it("has what was chosen, and no time for a full pass", () => {
    const choice = { ...USUAL, streams: ["artists"], since: " 2026-03-01 " };
    expect(requestOf(null, choice)).toEqual({ streams: ["artists"], since: "2026-03-01" });
    expect(requestOf(null, { ...choice, full: true })).toEqual({
      streams: ["artists"],
      full: true,
    });
  });
});

describe("the comparison of two passes", () => {
  const mirror = { streams: [{ id: "5" }, { id: "6" }] as Stream[] };
  const passes = [{ id: "12" }, { id: "9" }, { id: "3" }];

  it("is of the newest pass and the one before, unless others were chosen", () => {
    expect(comparisonOf({}, mirror, passes)).toEqual({ streamId: "5", from: "9", to: "12" });
    expect(comparisonOf({ to: "9", stream: "6" }, mirror, passes)).toEqual({
      streamId: "6",
      from: "3",
      to: "9",
    });
  });

  it("needs two passes", () => {
    expect(comparisonOf({}, mirror, [{ id: "12" }])).toBeNull();
  });

  it("offers a chosen pass that the loaded list does not have", () => {
    expect(passChoices([], "3")).toEqual([{ value: "3", label: "Pass 3" }]);
  });

  it("names the fields of a changed row, and shows the body of others", () => {
    const changed = { kind: "changed", fields: ["name", "size"] } as Difference;
    expect(differenceInWords(changed)).toBe("name, size");
    expect(differenceInWords({ ...changed, fields: [] })).toMatch(/not stored/);
    const deleted = { kind: "deleted", fields: [], before: { id: 1 }, after: null } as object;
    expect(differenceInWords(deleted as Difference)).toBe('{"id":1}');
  });
});
