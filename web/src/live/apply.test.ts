import { QueryClient } from "@tanstack/react-query";
import { describe, expect, it } from "vitest";
import { type Job, keys } from "../api";
import { Applying } from "./apply";
import type { Counters } from "./news";

const COUNTS = { total: 10, pending: 4, processing: 1, done: 5 } as Counters["counts"];
const told: Counters = {
  jobId: "7",
  state: "RUNNING",
  counts: COUNTS,
  ingest: {},
  rate: 2.5,
  eta: null,
  limitedBy: null,
};

describe("news", () => {
  it("brings counters into the job and every list that shows it", () => {
    const queries = new QueryClient();
    const job = { id: "7", name: "prices", state: "QUEUED" } as Job;
    const other = { id: "8", name: "others", state: "DONE" } as Job;
    queries.setQueryData(keys.job("7"), job);
    queries.setQueryData([...keys.jobs, {}], { items: [other, job], next: null });
    new Applying(queries).apply({ kind: "counters", value: told });
    expect(queries.getQueryData(keys.job("7"))).toMatchObject({ name: "prices", rate: 2.5 });
    const page = queries.getQueryData<{ items: Job[] }>([...keys.jobs, {}]);
    expect(page?.items.map((each) => each.state)).toEqual(["DONE", "RUNNING"]);
    expect(queries.getQueryState([...keys.jobs, {}])?.isInvalidated).toBe(false);
  });

  it("of a job that no list shows has the lists read anew", () => {
    const queries = new QueryClient();
    queries.setQueryData([...keys.jobs, {}], { items: [], next: null });
    new Applying(queries).apply({ kind: "counters", value: told });
    expect(queries.getQueryState([...keys.jobs, {}])?.isInvalidated).toBe(true);
  });

  it("of changed items concerns that job alone", () => {
    const queries = new QueryClient();
    for (const id of ["7", "8"]) queries.setQueryData(keys.itemList(id, {}), {});
    new Applying(queries).apply({ kind: "changed", value: { jobId: "7", after: "c" } });
    const isStale = (id: string) => queries.getQueryState(keys.itemList(id, {}))?.isInvalidated;
    expect([isStale("7"), isStale("8")]).toEqual([true, false]);
  });
});
