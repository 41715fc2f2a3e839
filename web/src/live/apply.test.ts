import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Event, type Job, keys } from "../api";
import { CacheUpdater, Throttle } from "./apply";
import type { Counters } from "./messages";

const COUNTS = { total: 10, pending: 4, processing: 1, done: 5 } as Counters["counts"];
const counters: Counters = {
  jobId: "7",
  at: "2026-03-01T12:00:00Z",
  state: "RUNNING",
  counts: COUNTS,
  ingest: {},
  rate: 2.5,
  eta: null,
  limitedBy: null,
};

describe("a live message", () => {
  it("brings counters into the job and every list that shows it", () => {
    const queries = new QueryClient();
    const job = { id: "7", name: "prices", state: "RUNNING", rate: 1 } as Job;
    const other = { id: "8", name: "others", state: "DONE" } as Job;
    queries.setQueryData(keys.job("7"), job);
    queries.setQueryData([...keys.jobs, {}], { items: [other, job], next: null });
    new CacheUpdater(queries).apply({ kind: "counters", value: counters });
    expect(queries.getQueryData(keys.job("7"))).toMatchObject({ name: "prices", rate: 2.5 });
    const page = queries.getQueryData<{ items: Job[] }>([...keys.jobs, {}]);
    expect(page?.items.map((each) => each.state)).toEqual(["DONE", "RUNNING"]);
    expect(queries.getQueryState([...keys.jobs, {}])?.isInvalidated).toBe(false);
  });

  it("of a job that no list shows has the lists read again, once", () => {
    const queries = new QueryClient();
    const list = [...keys.jobs, {}];
    const isStale = () => queries.getQueryState(list)?.isInvalidated;
    queries.setQueryData(list, { items: [], next: null });
    const updater = new CacheUpdater(queries);
    updater.apply({ kind: "counters", value: counters });
    expect(isStale()).toBe(true);
    queries.setQueryData(list, { items: [], next: null }); // it is filtered out
    updater.apply({ kind: "counters", value: { ...counters, rate: 3 } });
    expect(isStale()).toBe(false);
    updater.close();
  });

  it("of another state has the lists read again: filters may let it in or out", () => {
    const queries = new QueryClient();
    const list = [...keys.jobs, {}];
    queries.setQueryData(list, { items: [{ id: "7", state: "RUNNING" }], next: null });
    const updater = new CacheUpdater(queries);
    updater.apply({ kind: "counters", value: counters });
    expect(queries.getQueryState(list)?.isInvalidated).toBe(false);
    updater.apply({ kind: "counters", value: { ...counters, state: "DONE" } });
    expect(queries.getQueryState(list)?.isInvalidated).toBe(true);
    updater.close();
  });

  it("of the newest pass reloads its mirror, and its report less often", () => {
    vi.useFakeTimers();
    const queries = new QueryClient();
    const [mirror, report] = [keys.mirror("3"), keys.passReport("7")];
    const isStale = (key: readonly string[]) => queries.getQueryState(key)?.isInvalidated;
    const load = () => {
      queries.setQueryData(mirror, { id: "3", newest: { id: "7" } });
      queries.setQueryData(report, { id: "7" });
    };
    const updater = new CacheUpdater(queries);
    load();
    updater.apply({ kind: "changed", value: { jobId: "8", after: "" } });
    expect([isStale(mirror), isStale(report)]).toEqual([false, false]);
    updater.apply({ kind: "changed", value: { jobId: "7", after: "" } });
    expect([isStale(mirror), isStale(report)]).toEqual([true, true]);
    load();
    updater.apply({ kind: "changed", value: { jobId: "7", after: "" } });
    vi.advanceTimersByTime(1_000);
    expect([isStale(mirror), isStale(report)]).toEqual([true, false]);
    vi.advanceTimersByTime(10_000);
    expect(isStale(report)).toBe(true);
    updater.close();
    vi.useRealTimers();
  });

  it("of an event of the newest pass reloads its mirror: it may have ended unnoticed", () => {
    const queries = new QueryClient();
    queries.setQueryData(keys.mirror("3"), { id: "3", newest: { id: "7" } });
    const updater = new CacheUpdater(queries);
    const event = { jobId: "7", kind: "asked" } as Event;
    updater.apply({ kind: "event", value: event });
    expect(queries.getQueryState(keys.mirror("3"))?.isInvalidated).toBe(true);
    updater.close();
  });

  it("of a pass that begins or ends reloads mirrors", () => {
    const queries = new QueryClient();
    queries.setQueryData(keys.mirrors, []);
    const updater = new CacheUpdater(queries);
    updater.apply({ kind: "counters", value: counters });
    expect(queries.getQueryState(keys.mirrors)?.isInvalidated).toBe(true);
    updater.close();
  });

  it("of changed items concerns that job alone", () => {
    const queries = new QueryClient();
    for (const id of ["7", "8"]) queries.setQueryData(keys.itemList(id, {}), {});
    new CacheUpdater(queries).apply({ kind: "changed", value: { jobId: "7", after: "c" } });
    const isStale = (id: string) => queries.getQueryState(keys.itemList(id, {}))?.isInvalidated;
    expect([isStale("7"), isStale("8")]).toEqual([true, false]);
  });

  it("of changed items leaves a page alone whose rows are all finished", () => {
    const queries = new QueryClient();
    const pages = {
      finished: [...keys.itemList("7", {}), { after: "a" }],
      open: [...keys.itemList("7", {}), { after: "b" }],
      last: [...keys.itemList("7", {}), { after: "c" }],
      filtered: keys.itemList("7", { statuses: "DONE" }),
    };
    const done = { items: [{ status: "DONE" }, { status: "ERROR" }], next: "b" };
    queries.setQueryData(pages.finished, done);
    queries.setQueryData(pages.open, {
      items: [{ status: "DONE" }, { status: "PENDING" }],
      next: "c",
    });
    queries.setQueryData(pages.last, { ...done, next: null });
    queries.setQueryData(pages.filtered, done);
    const stale = () =>
      Object.entries(pages)
        .filter(([, key]) => queries.getQueryState(key)?.isInvalidated)
        .map(([name]) => name);
    const updater = new CacheUpdater(queries);
    updater.apply({ kind: "changed", value: { jobId: "7", after: "c" } });
    expect(stale()).toEqual(["open", "last", "filtered"]);
    const event = { id: "1", at: null, jobId: "7", itemId: null, message: "" };
    updater.apply({ kind: "event", value: { ...event, kind: "requeued" } });
    expect(stale()).toContain("finished");
    updater.close();
  });

  it("has errors grouped again only when there are more or fewer", () => {
    const queries = new QueryClient();
    const isStale = () => queries.getQueryState(keys.errors("7"))?.isInvalidated;
    const counts = (error: number) => ({ ...counters, counts: { ...COUNTS, error } });
    const updater = new CacheUpdater(queries);
    queries.setQueryData(keys.errors("7"), []);
    updater.apply({ kind: "counters", value: counts(2) });
    updater.apply({ kind: "changed", value: { jobId: "7", after: "c" } });
    expect(isStale()).toBe(true);
    queries.setQueryData(keys.errors("7"), []);
    updater.close();
    updater.apply({ kind: "changed", value: { jobId: "7", after: "c" } });
    expect(isStale()).toBe(false);
    updater.apply({ kind: "counters", value: counts(3) });
    updater.apply({ kind: "changed", value: { jobId: "7", after: "c" } });
    expect(isStale()).toBe(true);
    updater.close();
  });

  it("of a decision has the job and what waits for a person read again", () => {
    const queries = new QueryClient();
    const shown = [keys.job("7"), keys.job("8"), keys.reviewList({})];
    for (const key of shown) queries.setQueryData(key, {});
    const event = { id: "1", at: null, jobId: "7", itemId: "3", message: "accepted" };
    const updater = new CacheUpdater(queries);
    const stale = () => shown.map((key) => queries.getQueryState(key)?.isInvalidated);
    updater.apply({ kind: "event", value: { ...event, kind: "paused" } });
    expect(stale()).toEqual([false, false, false]);
    updater.apply({ kind: "event", value: { ...event, kind: "decided" } });
    expect(stale()).toEqual([true, false, true]);
  });
});

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
