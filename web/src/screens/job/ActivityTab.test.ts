import { expect, it } from "vitest";
import type { Item } from "../../api";
import { changesIn } from "./ActivityTab";
import { messageOf } from "./ErrorsTab";
import { retriesIn } from "./RetriesAhead";

it("tells each change of the rates of all gates, newest first", () => {
  const line = (at: string) => ({ at, seen: "429", decided: "lowered", before: 9, after: 5 });
  const gates = [
    { name: "a", evidence: [line("2026-03-01T12:00:00"), line("2026-03-01T12:02:00")] },
    { name: "b", evidence: [line("2026-03-01T12:01:00")] },
  ];
  const held = { ...line("2026-03-01T12:03:00"), before: 5 };
  gates.push({ name: "c", evidence: [held] });
  const job = { createdAt: "2026-03-01T11:00:00", finishedAt: null };
  expect(changesIn(gates, job).map(({ gate }) => gate)).toEqual(["a", "b", "a"]);
  const ended = { ...job, finishedAt: "2026-03-01T12:01:00" };
  expect(changesIn(gates, ended).map(({ gate }) => gate)).toEqual(["b", "a"]);
});

it("says the class of an error once", () => {
  expect(messageOf({ errorClass: "timeout", signature: "timeout: after <n> s" })).toBe(
    "after <n> s",
  );
  expect(messageOf({ errorClass: "timeout", signature: "no answer" })).toBe("no answer");
});

it("takes only items for retries that have failed and are due later, soonest first", () => {
  const items = [
    { id: "1", lastError: null, errorClass: null, dueAt: null },
    { id: "2", lastError: "HTTP 503", errorClass: "transient", dueAt: "2026-03-01T12:09:00" },
    { id: "3", lastError: "HTTP 503", errorClass: "transient", dueAt: "2026-03-01T12:01:00" },
    { id: "4", lastError: "HTTP 503", errorClass: "transient", dueAt: "2026-03-01T11:59:00" },
  ] as Item[];
  const rows = { count: 5, row: (index: number) => items[index] };
  const now = new Date("2026-03-01T12:00:00").getTime();
  expect(retriesIn(rows, now).map(({ id }) => id)).toEqual(["3", "2"]);
});
