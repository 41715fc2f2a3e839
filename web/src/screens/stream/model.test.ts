import { describe, expect, it } from "vitest";
import type { FieldOfRows, MirrorRowDetail } from "../../api";
import { changesBetween, columnFields, historyOf, isLater, isMixed } from "./model";

const field = (name: string, types: string[], firstPass = "9") =>
  ({ name, types, firstPass }) as FieldOfRows;
const FIELDS = [
  field("id", ["integer"]),
  field("tags", ["array"]),
  field("name", ["string", "null"]),
  field("size", ["integer", "string"], "10"),
];

describe("fields", () => {
  it("with plain values are columns", () => {
    expect(columnFields(FIELDS)).toEqual(["name", "size"]);
  });

  it("that came after the first pass are drift, and so are several types", () => {
    expect(FIELDS.filter((each) => isLater(each, FIELDS)).map(({ name }) => name)).toEqual([
      "size",
    ]);
    expect(FIELDS.filter(isMixed).map(({ name }) => name)).toEqual(["size"]);
  });
});

describe("what differs between two bodies", () => {
  it("is compared field by field", () => {
    const before = { id: 1, tags: ["a"], old: true };
    const after = { id: 1, tags: ["a", "b"], fresh: null };
    expect(changesBetween(before, after)).toEqual([
      { name: "tags", before: ["a"], after: ["a", "b"] },
      { name: "fresh", before: undefined, after: null },
      { name: "old", before: true, after: undefined },
    ]);
  });

  it("is unknown without one of them", () => {
    expect(changesBetween(null, { id: 1 })).toBeNull();
  });
});

describe("the history of a row", () => {
  const row = {
    body: { price: 3 },
    firstPass: "1",
    firstAt: "2026-03-01T12:00:00Z",
    deletedAt: null,
    changes: [
      { id: "1", kind: "changed", passId: "2", at: "2026-03-02T12:00:00Z", before: { price: 1 } },
      { id: "2", kind: "changed", passId: "3", at: "2026-03-03T12:00:00Z", before: { price: 2 } },
    ],
  } as unknown as MirrorRowDetail;

  it("has the newest event first, and each change against the next body", () => {
    const events = historyOf(row).map(({ kind, passId, changes }) => [
      kind,
      passId,
      changes?.map(({ before, after }) => `${before} → ${after}`),
    ]);
    expect(events).toEqual([
      ["changed", "3", ["2 → 3"]],
      ["changed", "2", ["1 → 2"]],
      ["added", "1", undefined],
    ]);
  });

  it("tells a deletion by absence, which the log does not have", () => {
    const deletedAt = "2026-03-04T12:00:00Z";
    expect(historyOf({ ...row, deletedAt })[0]).toMatchObject({ kind: "deleted", at: deletedAt });
  });

  it("tells a logged deletion once", () => {
    const changes = [{ ...row.changes[0], kind: "deleted" }] as MirrorRowDetail["changes"];
    const deleted = { ...row, deletedAt: "2026-03-02T12:00:00Z", changes };
    expect(historyOf(deleted).map(({ kind }) => kind)).toEqual(["deleted", "added"]);
  });
});
