import { describe, expect, it } from "vitest";
import type { Counts } from "../../api";
import { dayToMoment, momentToDay, openIn, planOf, rowIdOf, statusesOf } from "./model";

describe("the statuses of the pending view", () => {
  it("are those of open items unless the URL names others", () => {
    expect(statusesOf(undefined)).toEqual(["PENDING", "PROCESSING"]);
    expect(statusesOf("ERROR")).toEqual(["ERROR"]);
  });
});

describe("a range of days", () => {
  it("holds its last day as a whole", () => {
    const from = new Date(dayToMoment("2026-03-01") ?? "");
    const to = new Date(dayToMoment("2026-03-01", { next: true }) ?? "");
    expect(from.getHours()).toBe(0);
    expect(to.getDate()).toBe(2);
    expect(to.getTime()).toBeGreaterThan(from.getTime());
  });

  it("is shown as it was chosen", () => {
    expect(momentToDay(dayToMoment("2026-12-31"))).toBe("2026-12-31");
    expect(momentToDay(dayToMoment("2026-12-31", { next: true }), { next: true })).toBe(
      "2026-12-31",
    );
  });

  it("is open where nothing sensible was given", () => {
    expect(dayToMoment("yesterday")).toBeUndefined();
    expect(momentToDay("yesterday")).toBe("");
    expect(momentToDay(undefined)).toBe("");
  });
});

const some = (...ids: string[]) => ({ everything: false, ids: new Set(ids) });
const allBut = (...ids: string[]) => ({ everything: true, ids: new Set(ids) });

describe("running chosen rows again", () => {
  it("goes job by job", () => {
    const rows = [
      { jobId: "1", id: "10" },
      { jobId: "2", id: "20" },
      { jobId: "1", id: "11" },
    ];
    expect(planOf(some(...rows.map(rowIdOf)), { statuses: "ERROR" })).toEqual({
      calls: [
        { jobId: "1", body: { scope: "items", itemIds: ["10", "11"] } },
        { jobId: "2", body: { scope: "items", itemIds: ["20"] } },
      ],
    });
  });

  it("is of no use for what waits or runs anyway", () => {
    expect(planOf(some("1/10"), {})).toHaveProperty("why");
    expect(planOf(allBut(), { statuses: "PROCESSING" })).toHaveProperty("why");
  });
});

describe("running all that match again", () => {
  it("is one request with the whole filter, without what was taken out", () => {
    const filter = { statuses: "NOT_FOUND", userId: "me" as const, from: "2026-01-01", to: "" };
    expect(planOf(allBut("7/70"), filter)).toEqual({
      calls: [
        {
          across: {
            statuses: ["NOT_FOUND"],
            userId: "me",
            from: "2026-01-01",
            exceptIds: ["70"],
          },
        },
      ],
    });
  });

  it("leaves out what is not finished", () => {
    expect(planOf(allBut(), { statuses: "PENDING,ERROR" })).toEqual({
      calls: [{ across: { statuses: ["ERROR"], exceptIds: [] } }],
    });
  });
});

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
