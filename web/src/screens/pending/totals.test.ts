import { describe, expect, it } from "vitest";
import type { Counts } from "../../api";
import { openIn } from "./totals";

const job = (jobId: string, handler: string, pending: number, processing: number) => ({
  jobId,
  handler,
  counts: { pending, processing, total: 1_000 } as Counts,
});
const JOBS = [job("1", "shop.price", 100, 10), job("2", "shop.name", 5, 0)];

describe("how many open items match", () => {
  it("is what the counters of the jobs add up to", () => {
    expect(openIn(JOBS, {})).toBe(115);
    expect(openIn(JOBS, { statuses: "PROCESSING" })).toBe(10);
    expect(openIn(JOBS, { jobId: "2" })).toBe(5);
    expect(openIn(JOBS, { jobType: "shop.price", statuses: "PENDING" })).toBe(100);
  });

  it("is not known where counters do not tell", () => {
    expect(openIn(JOBS, { statuses: "ERROR" })).toBeUndefined();
    expect(openIn(JOBS, { from: "2026-03-01T00:00:00Z" })).toBeUndefined();
  });
});
