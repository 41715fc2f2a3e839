import { describe, expect, it } from "vitest";
import { requestFor, requestForGroup } from "./model";

const some = (...ids: string[]) => ({ everything: false, ids: new Set(ids) });
const all = (...without: string[]) => ({ everything: true, ids: new Set(without) });

describe("what the server is asked to run again", () => {
  it("names rows that were chosen one by one", () => {
    expect(requestFor(some("3", "5"), { q: "x" })).toEqual({ scope: "items", itemIds: ["3", "5"] });
    expect(requestFor(some(), {})).toBeNull();
  });

  it("names the filter, and what was taken out, where everything was chosen", () => {
    const filter = { statuses: "ERROR,DONE", q: "shoe", errorClass: "timeout", signature: "s" };
    expect(requestFor(all("9"), filter)).toEqual({
      scope: "job",
      statuses: ["DONE", "ERROR"],
      errorClass: "timeout",
      filter: { q: "shoe", signature: "s" },
      exceptIds: ["9"],
    });
  });

  it("never leaves the statuses to the server, which would take fewer than are shown", () => {
    expect(requestFor(all(), {})?.statuses).toEqual([
      "DONE",
      "NOT_FOUND",
      "SKIPPED",
      "REVIEW",
      "ERROR",
      "CANCELLED",
    ]);
  });

  it("leaves open items alone", () => {
    expect(requestFor(all(), { statuses: "PENDING,PROCESSING" })).toBeNull();
    expect(requestFor(all(), { statuses: "PENDING,ERROR" })?.statuses).toEqual(["ERROR"]);
  });

  it("takes a group by its signature, errors only", () => {
    const group = { errorClass: "timeout", signature: "timeout: # s" };
    expect(requestForGroup(group)).toEqual({
      scope: "job",
      statuses: ["ERROR"],
      errorClass: "timeout",
      filter: { signature: "timeout: # s" },
    });
  });
});
