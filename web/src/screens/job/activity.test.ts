import { expect, it } from "vitest";
import type { Item } from "../../api";
import { saidBy } from "./ErrorsTab";
import { changesIn } from "./LimitChanges";
import { retriesIn } from "./RetriesAhead";

it("tells what was learned of all gates, newest first", () => {
  const line = (at: string) => ({ at, seen: "429", decided: "lowered", before: 9, after: 5 });
  const gates = [
    { name: "a", evidence: [line("2026-03-01T12:00:00"), line("2026-03-01T12:02:00")] },
    { name: "b", evidence: [line("2026-03-01T12:01:00")] },
  ];
  expect(changesIn(gates).map(({ gate }) => gate)).toEqual(["a", "b", "a"]);
});

it("says the class of an error once", () => {
  expect(saidBy({ errorClass: "timeout", signature: "timeout: after <n> s" })).toBe("after <n> s");
  expect(saidBy({ errorClass: "timeout", signature: "no answer" })).toBe("no answer");
});

it("takes only items for retries that have failed before", () => {
  const items = [
    { id: "1", lastError: null, errorClass: null },
    { id: "2", lastError: "HTTP 503", errorClass: "server" },
  ] as Item[];
  const rows = { count: 3, row: (index: number) => items[index] };
  expect(retriesIn(rows).map(({ id }) => id)).toEqual(["2"]);
});
