import { describe, expect, it } from "vitest";
import type { Checkpoint, Pass } from "../../api";
import {
  isInterrupted,
  modeOf,
  proofOf,
  seenInWords,
  shareSeen,
  startOf,
  sumsOf,
  verdictOf,
} from "./model";

const OPEN = {
  stream: "artists",
  mode: "full",
  pages: 3,
  added: 10,
  changed: 2,
  unchanged: 8,
  repeated: 0,
  total: 40,
  startedAt: "2026-03-01T12:00:00Z",
  proof: null,
  evidence: null,
} as Checkpoint;
const COMPLETE: Checkpoint = { ...OPEN, proof: "covered" };
const UNPROVEN: Checkpoint = { ...OPEN, proof: "unproven", evidence: { reason: "there are gaps" } };

function pass(state: string, ...checkpoints: Checkpoint[]): Pass {
  return { id: "7", checkpoints, job: { state, createdAt: null } } as Pass;
}

describe("the proof of a stream", () => {
  it("follows when every page is stored", () => {
    expect(proofOf(OPEN, true).label).toBe("In progress");
  });

  it("is missing if the pass ended before", () => {
    expect(proofOf(OPEN, false)).toMatchObject({ label: "Incomplete", tone: "error" });
  });

  it("says why nothing is proven", () => {
    expect(proofOf(UNPROVEN, false).help).toMatch(/deletes nothing. Reason: there are gaps\.$/);
  });
});

describe("the verdict on a pass", () => {
  it("is proven only if every stream is", () => {
    expect(verdictOf(pass("DONE", COMPLETE, COMPLETE)).label).toBe("Proven");
    expect(verdictOf(pass("DONE", COMPLETE, UNPROVEN)).label).toBe("1 unproven");
    expect(verdictOf(pass("DONE", COMPLETE, OPEN)).label).toBe("1 of 2 complete");
  });

  it("waits while the pass runs", () => {
    expect(verdictOf(pass("RUNNING", COMPLETE, OPEN)).tone).toBe("processing");
  });

  it("holds without the job, which may have been deleted", () => {
    expect(verdictOf({ ...pass("DONE", COMPLETE), job: null }).label).toBe("Proven");
  });
});

describe("a pass", () => {
  it("can be continued if it ended with an open stream, unless it was cancelled", () => {
    expect(isInterrupted(pass("DONE", COMPLETE, OPEN))).toBe(true);
    expect(isInterrupted(pass("DONE", COMPLETE, UNPROVEN))).toBe(false);
    expect(isInterrupted(pass("RUNNING", OPEN))).toBe(false);
    expect(isInterrupted(pass("CANCELLED", OPEN))).toBe(false);
    expect(isInterrupted({ ...pass("DONE", OPEN), job: null })).toBe(false);
  });

  it("adds its streams up", () => {
    const { pages, rows, added, changed } = sumsOf(pass("DONE", COMPLETE, OPEN));
    expect([pages, rows, added, changed]).toEqual([6, 40, 20, 4]);
  });

  it("names both modes if its streams differ", () => {
    expect(modeOf(pass("DONE", OPEN))).toBe("full");
    expect(modeOf(pass("DONE", OPEN, { ...OPEN, mode: "incremental" }))).toBe(
      "full and incremental",
    );
  });

  it("began with its first stream", () => {
    const later = { ...OPEN, startedAt: "2026-03-01T12:05:00Z" };
    expect(startOf(pass("DONE", later, OPEN))).toBe(OPEN.startedAt);
  });
});

describe("the progress of a stream", () => {
  it("is measured by the total that the source tells", () => {
    expect([shareSeen(OPEN), seenInWords(OPEN)]).toEqual([0.5, "20 of 40 rows"]);
  });

  it("has no share without a total", () => {
    const open = { ...OPEN, total: null };
    expect([shareSeen(open), seenInWords(open)]).toEqual([null, "20 rows"]);
  });

  it("never passes its end, although totals lie", () => {
    expect(shareSeen({ ...OPEN, total: 5 })).toBe(1);
  });
});
