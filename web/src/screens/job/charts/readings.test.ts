import { describe, expect, it } from "vitest";
import type { Counts, GatePoint } from "../../../api";
import { countsOf } from "../../../testing/counts";
import { figuresOf, gatesIn, type Point, throughputOf, withPoint } from "./readings";

function point(at: number, counts: Partial<Counts> = {}, gates: GatePoint[] = []): Point {
  return { at, counts: countsOf({ total: 1_000, pending: 1_000, ...counts }), gates };
}

function gate(name: string, nowPerS: number): GatePoint {
  return { name, nowPerS, latencyS: 0.1, refusedShare: 0, inFlight: 1 };
}

describe("points of a chart", () => {
  it("lie a second apart, with the newest always among them", () => {
    let points: readonly Point[] = [];
    for (let quarter = 0; quarter <= 12; quarter += 1)
      points = withPoint(points, point(quarter / 4));
    expect(points.at(-1)?.at).toBe(3);
    expect(points.length).toBeLessThanOrEqual(5);
  });

  it("stay few however long one looks, from first to last", () => {
    let points: readonly Point[] = [];
    for (let at = 0; at < 5_000; at += 1) points = withPoint(points, point(at));
    expect(points.length).toBeLessThanOrEqual(600);
    expect([points[0]?.at, points.at(-1)?.at]).toEqual([0, 4_999]);
  });

  it("do not go back in time", () => {
    const points = withPoint([], point(10));
    expect(withPoint(points, point(9))).toBe(points);
  });
});

describe("throughput", () => {
  it("is by outcome, over some seconds", () => {
    const points = [0, 1, 2, 3, 4, 5, 6].map((at) =>
      point(at, { pending: 1_000 - at * 11, done: at * 10, error: at }),
    );
    const [moments, done, notFound, errors, others] = throughputOf(points);
    expect(moments).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(done).toEqual([null, 10, 10, 10, 10, 10, 10]);
    expect(errors?.at(-1)).toBe(1);
    expect([notFound?.at(-1), others?.at(-1)]).toEqual([0, 0]);
  });

  it("is not below nothing when items run again", () => {
    const [, done] = throughputOf([point(0, { done: 50 }), point(1, { done: 0 })]);
    expect(done).toEqual([null, 0]);
  });
});

describe("gates of a job", () => {
  it("have their place before they are told of, so that nothing moves when they are", () => {
    expect(gatesIn([point(0), point(1)], ["a"])).toEqual(["a"]);
    expect(gatesIn([point(0), point(1)], [])).toEqual([]);
  });
});

describe("figures of gates", () => {
  it("has a line for each gate, and gaps where it was not told of", () => {
    const points = [point(0, {}, [gate("a", 5)]), point(1), point(2, {}, [gate("b", 7)])];
    const names = gatesIn(points);
    expect(names).toEqual(["a", "b"]);
    expect(figuresOf(points, names, (each) => each.nowPerS)).toEqual([
      [0, 2],
      [5, null],
      [null, 7],
    ]);
  });
});
