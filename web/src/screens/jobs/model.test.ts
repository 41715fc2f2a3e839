import { describe, expect, it } from "vitest";
import type { Job, Wait } from "../../api";
import { causeOf, isStopped, leftOf, limitOf, rateOf, SAMPLE_JOB } from "./model";

const wait = (kind: string, why: string, gate = ""): Wait => ({
  kind,
  why,
  gate,
  until: null,
  next: "",
  evidence: "",
});
const RUNNING = {
  state: "RUNNING",
  rate: 2,
  eta: { lowS: 60, highS: 120, words: "1–2 min" },
  limitedBy: wait("rate", "127.0.0.1:8080: the learned rate, 2/s", "host:127.0.0.1:8080"),
} as Pick<Job, "state" | "rate" | "eta" | "limitedBy">;

describe("the pace of a job", () => {
  it("is told while it runs", () => {
    expect([rateOf(RUNNING), leftOf(RUNNING)]).toEqual(["2/s", "1–2 min"]);
    expect(limitOf(RUNNING)).toEqual({ where: "127.0.0.1:8080", why: "the learned rate, 2/s" });
  });

  it("stands still in a pause, whatever the last seconds were like", () => {
    const limitedBy = wait("paused", "job 3 is paused");
    const paused = { ...RUNNING, state: "PAUSED" as const, limitedBy };
    expect([rateOf(paused), leftOf(paused)]).toEqual(["–", "Paused"]);
    expect(limitOf(paused).why).toBe("Job 3 is paused");
    expect(isStopped(paused)).toBe(false);
  });

  it("has no speed while the file is read", () => {
    const limitedBy = wait("reading", "reading the file… 12,000 rows read");
    const reading = { ...RUNNING, state: "INGESTING" as const, rate: 0, eta: null, limitedBy };
    expect([rateOf(reading), leftOf(reading)]).toEqual(["–", "Reading file…"]);
  });

  it("has no place where nothing outside holds it", () => {
    const limitedBy = wait("worker", "no worker is running; start one with: headgate worker");
    const alone = { ...RUNNING, eta: null, limitedBy };
    expect(limitOf(alone).where).toBe("");
    expect(limitOf(alone).why).toBe("No worker is running; start one with: headgate worker");
    expect([leftOf(alone), isStopped(alone)]).toEqual(["–", true]);
    expect(leftOf({ ...RUNNING, eta: null })).toBe("Calculating…");
  });

  it("says at full speed that nothing limits it", () => {
    const limitedBy = wait("running", "nothing – running at full speed (32 rows in progress)");
    const going = { ...RUNNING, limitedBy };
    expect(limitOf(going).why).toBe("Nothing – running at full speed (32 rows in progress)");
    expect(isStopped(going)).toBe(false);
  });
});

it("never capitalises the name of a host or a provider", () => {
  const silent = wait("breaker", "api.example.org does not answer (unknown host name)", "host:x");
  expect(causeOf(silent)).toBe("api.example.org does not answer (unknown host name)");
  expect(causeOf(wait("rate", "shop: the learned rate, 2/s", "provider:shop"))).toMatch(/^shop/);
  const paused = wait("breaker", "paused itself: shop keeps answering 500", "provider:shop");
  expect(causeOf(paused)).toBe("Paused itself: shop keeps answering 500");
  expect(isStopped({ ...RUNNING, limitedBy: paused })).toBe(true);
});

describe("the sample", () => {
  it("has every word once: it is the key", () => {
    const words = SAMPLE_JOB.items?.map((item) => item.word) ?? [];
    expect(new Set(words).size).toBe(words.length);
  });
});
