import { describe, expect, it } from "vitest";
import type { Worker } from "../../api";
import { inWords, mayDrain, statusOfWorker } from "./model";

const NOW = new Date("2026-03-01T12:00:00Z").getTime();
const worker = (change: Partial<Worker> = {}): Worker => ({
  id: "host-1-a",
  sessionId: "host-1",
  host: "host",
  bootId: "",
  pid: 7,
  startedTicks: 1,
  ttlS: 10,
  version: "0.1.0",
  beat: 3,
  running: 0,
  claimSize: 16,
  draining: false,
  registeredAt: "2026-03-01T11:00:00+00:00",
  beatAt: "2026-03-01T11:59:58+00:00",
  stoppedAt: null,
  ...change,
});

describe("how a worker is", () => {
  it.each<[string, Partial<Worker>]>([
    ["Idle", {}],
    ["Working", { running: 4 }],
    ["Draining", { running: 4, draining: true }],
    ["Silent", { running: 4, beatAt: "2026-03-01T11:59:49+00:00" }],
    ["Stopped", { stoppedAt: "2026-03-01T11:59:00+00:00", beatAt: "2026-03-01T11:00:00+00:00" }],
  ])("is said as %s", (word, change) =>
    expect(statusOfWorker(worker(change), NOW).word).toBe(word),
  );

  it("lets it be sent home once, while it lives", () => {
    expect(mayDrain(worker())).toBe(true);
    expect(mayDrain(worker({ draining: true }))).toBe(false);
    expect(mayDrain(worker({ stoppedAt: "2026-03-01T11:59:00+00:00" }))).toBe(false);
  });
});

describe("the workers together", () => {
  it("are counted while they live", () => {
    const gone = worker({ running: 5, stoppedAt: "2026-03-01T11:59:00+00:00" });
    expect(inWords([worker({ running: 1 }), gone])).toBe("1 worker holds 1 item");
    const others = [worker({ running: 1_200 }), worker({ host: "other", running: 34 })];
    expect(inWords(others)).toBe("2 workers hold 1,234 items on 2 hosts");
  });
});
