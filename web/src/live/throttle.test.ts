import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Throttle } from "./throttle";

describe("a throttle", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("does the first at once and the last of the others later", () => {
    const done: number[] = [];
    const throttle = new Throttle(1_000);
    for (const n of [1, 2, 3]) throttle.run("a", () => done.push(n));
    throttle.run("b", () => done.push(10));
    expect(done).toEqual([1, 10]);
    vi.advanceTimersByTime(1_000);
    expect(done).toEqual([1, 10, 3]);
    vi.advanceTimersByTime(5_000);
    expect(done).toEqual([1, 10, 3]);
  });

  it("forgets what waits when it is cleared", () => {
    const done: number[] = [];
    const throttle = new Throttle(1_000);
    throttle.run("a", () => done.push(1));
    throttle.run("a", () => done.push(2));
    throttle.clear();
    vi.advanceTimersByTime(5_000);
    expect(done).toEqual([1]);
  });
});
