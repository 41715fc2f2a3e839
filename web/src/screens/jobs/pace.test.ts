import { describe, expect, it } from "vitest";
import type { Job } from "../../api";
import { leftOf, limitOf, rateOf } from "./pace";

const RUNNING = {
  state: "RUNNING",
  rate: 2,
  eta: { lowS: 60, highS: 120, words: "1–2 min" },
  limitedBy: { kind: "gate", why: "127.0.0.1:8080: the learned rate, 2/s", until: null, gate: "" },
} as Pick<Job, "state" | "rate" | "eta" | "limitedBy">;

describe("the pace of a job", () => {
  it("is told while it runs", () => {
    expect([rateOf(RUNNING), leftOf(RUNNING)]).toEqual(["2/s", "1–2 min"]);
    expect(limitOf(RUNNING)).toEqual({ where: "127.0.0.1:8080", why: "the learned rate, 2/s" });
  });

  it("stands still in a pause, whatever the last minute was like", () => {
    const paused = { ...RUNNING, state: "PAUSED" };
    expect([rateOf(paused), leftOf(paused)]).toEqual(["–", "nothing moves"]);
    expect(limitOf(paused).why).toBe("the pause");
  });

  it("has no place where nothing outside holds it", () => {
    const wait = { kind: "worker", why: "no worker is running: start one", until: null, gate: "" };
    const limit = limitOf({ ...RUNNING, limitedBy: wait });
    expect(limit).toEqual({ where: "", why: "no worker is running: start one" });
    expect(leftOf({ ...RUNNING, eta: null })).toBe("nobody can say yet");
  });
});
