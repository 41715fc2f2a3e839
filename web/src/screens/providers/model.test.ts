import { describe, expect, it } from "vitest";
import type { Gate } from "../../api";
import { brokenHosts, inTime, isStep, matchingGates, sentence, statusOfGate } from "./model";

describe("evidence", () => {
  it("is said as the server words it", () => {
    const line = {
      seen: "refused at 300/s, below the known limit",
      decided: "limit lowered to 279/s, next probe in 30 s",
    };
    expect(sentence(line)).toBe(
      "Refused at 300/s, below the known limit – limit lowered to 279/s, next probe in 30 s",
    );
  });

  it("is a step where the rate changed", () => {
    expect(isStep({ before: null, after: 2 })).toBe(true);
    expect(isStep({ before: 2, after: 2 })).toBe(false);
    expect(isStep({ before: 2, after: null })).toBe(false);
  });
});

const gate = (change: Partial<Gate> = {}): Gate => ({
  key: "provider:shop",
  kind: "provider",
  name: "shop",
  configured: "",
  configuredPerS: null,
  configuredInFlight: null,
  learnedPerS: 12,
  learnedInFlight: null,
  told: false,
  nowPerS: 12,
  asked: true,
  stage: "",
  cause: "open",
  why: "",
  closed: false,
  closedUntil: null,
  waiting: false,
  inFlight: 0,
  replies: 1,
  refusals: 0,
  refusedShare: 0,
  latencyS: 0.1,
  broken: {},
  down: {},
  budgets: [],
  members: [],
  override: null,
  evidence: [],
  ...change,
});
const AGAIN = "2026-03-01T12:00:12+00:00";
const NOW = new Date("2026-03-01T12:00:00Z").getTime();

describe("how a gate stands", () => {
  it.each<[string, Partial<Gate>]>([
    ["Open", {}],
    ["Not used yet", { asked: false }],
    ["At limit", { waiting: true, cause: "rate" }],
    ["Open", { waiting: true, cause: "open" }],
    ["Closed", { closed: true, cause: "retry-after" }],
    ["No answer", { closed: true, broken: { "shop.example": AGAIN } }],
    ["Paused", { closed: true, override: { rate: null, paused: true, until: null } }],
  ])("is said as %s", (word, change) => expect(statusOfGate(gate(change)).word).toBe(word));
});

describe("a closed gate", () => {
  it("counts down to when it opens", () => {
    expect(inTime("opens", AGAIN, NOW)).toBe("opens in 12 s");
    expect(inTime("opens", AGAIN, NOW + 13_000)).toBe("opens now");
    expect(inTime("opens", null, NOW)).toBeNull();
  });
});

describe("the list of gates", () => {
  const gates = [
    gate({ key: "host:b.example", name: "b.example" }),
    gate({ key: "host:a.example", name: "a.example" }),
    gate({ key: "provider:closed", name: "closed", closed: true }),
    gate({ key: "provider:broken", name: "broken", broken: { x: AGAIN } }),
    gate({ key: "provider:unused", name: "unused", asked: false }),
  ];

  it("has gates that need attention first", () => {
    const names = matchingGates(gates, "").map(({ name }) => name);
    expect(names).toEqual(["broken", "closed", "a.example", "b.example", "unused"]);
  });

  it("is searched in any case, also by kind", () => {
    expect(matchingGates(gates, " HOST:").map(({ name }) => name)).toEqual([
      "a.example",
      "b.example",
    ]);
    expect(matchingGates(gates, "unknown")).toEqual([]);
  });

  it("names hosts in the order in which they are asked again", () => {
    const broken = { late: "2026-03-01T13:00:00Z", soon: AGAIN };
    expect(brokenHosts(gate({ broken })).map(({ host }) => host)).toEqual(["soon", "late"]);
  });
});
