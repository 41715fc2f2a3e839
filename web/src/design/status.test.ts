import { describe, expect, it } from "vitest";
import { jobStyle } from "./status";

function style(state: string, counts: { error?: number; review?: number }) {
  return jobStyle({ state, counts: { total: 20, error: 0, review: 0, ...counts } });
}

describe("the badge of a job", () => {
  it("is green only where nothing failed and nothing waits for a person", () => {
    expect(style("DONE", {})).toMatchObject({ label: "Done", tone: "done" });
  });

  it("says that items failed, and is red where all did", () => {
    expect(style("DONE", { error: 3 })).toMatchObject({
      label: "Finished with errors",
      tone: "warn",
      icon: "warn",
      help: "3 of 20 items failed",
    });
    expect(style("DONE", { error: 20 }).tone).toBe("error");
  });

  it("says that items wait for a person", () => {
    expect(style("DONE", { review: 12 })).toMatchObject({
      label: "Needs review",
      tone: "review",
      help: "12 to review",
    });
    expect(style("DONE", { error: 1, review: 2 })).toMatchObject({
      label: "Finished with errors",
      help: "1 of 20 items failed, 2 to review",
    });
  });

  it("shows the state of an unfinished job, also if items have failed", () => {
    expect(style("RUNNING", { error: 3 }).label).toBe("Running");
    expect(style("CANCELLED", { error: 3 }).label).toBe("Cancelled");
  });
});
