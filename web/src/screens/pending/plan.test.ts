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
