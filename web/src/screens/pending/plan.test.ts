import { describe, expect, it } from "vitest";
import { planOf, rowIdOf } from "./plan";

const some = (...ids: string[]) => ({ everything: false, ids: new Set(ids) });
const allBut = (...ids: string[]) => ({ everything: true, ids: new Set(ids) });

describe("running chosen rows again", () => {
  it("goes job by job", () => {
    const rows = [
      { jobId: "1", id: "10" },
      { jobId: "2", id: "20" },
      { jobId: "1", id: "11" },
    ];
    expect(planOf(some(...rows.map(rowIdOf)), { statuses: "ERROR" }, false)).toEqual({
      asks: [
        { jobId: "1", body: { scope: "items", itemIds: ["10", "11"] } },
        { jobId: "2", body: { scope: "items", itemIds: ["20"] } },
      ],
    });
  });

  it("is of no use for what waits or runs anyway", () => {
    expect(planOf(some("1/10"), {}, true)).toHaveProperty("why");
    expect(planOf(allBut(), { statuses: "PROCESSING" }, true)).toHaveProperty("why");
  });
});

describe("running all that match again", () => {
  it("is one request where a job is chosen", () => {
    expect(planOf(allBut("7/70"), { statuses: "NOT_FOUND", jobId: "7" }, false)).toEqual({
      asks: [{ jobId: "7", body: { scope: "job", statuses: ["NOT_FOUND"], exceptIds: ["70"] } }],
    });
  });

  it("is a replay where they are dead letters", () => {
    const plan = planOf(allBut("7/70"), { statuses: "ERROR", jobType: "shop.price" }, true);
    expect(plan).toEqual({
      asks: [{ replay: { all: true, exceptIds: ["70"], jobType: "shop.price" } }],
    });
  });

  it("never reaches further than what is shown", () => {
    expect(planOf(allBut(), { statuses: "ERROR", userId: "me" }, true)).toHaveProperty("why");
    expect(planOf(allBut(), { statuses: "ERROR", userId: "me" }, false)).toHaveProperty("asks");
    expect(planOf(allBut(), { statuses: "NOT_FOUND" }, true)).toHaveProperty("why");
    expect(planOf(allBut(), { statuses: "ERROR", from: "2026-01-01" }, true)).toHaveProperty("why");
  });
});
