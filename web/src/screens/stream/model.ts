import type { FieldOfRows, MirrorRow, MirrorRowDetail, RowChange } from "../../api";
import { type IconName, partsOf, type Tone } from "../../design";

const MOST_COLUMNS = 5;
const NESTED = new Set(["object", "array"]);

/** Fields to show as columns: the first ones with plain values. The id has its own column. */
export function columnFields(fields: readonly FieldOfRows[]): string[] {
  return fields
    .filter(({ name, types }) => name !== "id" && !types.every((type) => NESTED.has(type)))
    .slice(0, MOST_COLUMNS)
    .map(({ name }) => name);
}

/** True if rows got this field after the first pass. */
export function isLater(field: FieldOfRows, fields: readonly FieldOfRows[]): boolean {
  const first = Math.min(...fields.map(({ firstPass }) => Number(firstPass)));
  return Number(field.firstPass) > first;
}

/** True if the values of a field have several types; null does not count. */
export function isMixed({ types }: FieldOfRows): boolean {
  return types.filter((type) => type !== "null").length > 1;
}

export type ChangeKind = RowChange["kind"];

export const KINDS: Record<ChangeKind, { label: string; tone: Tone; icon: IconName }> = {
  added: { label: "Added", tone: "done", icon: "plus" },
  changed: { label: "Changed", tone: "processing", icon: "repeat" },
  deleted: { label: "Deleted", tone: "error", icon: "trash" },
  restored: { label: "Restored", tone: "review", icon: "arrowLeft" },
};

/** One event in the life of a row. */
export interface RowEvent {
  kind: ChangeKind;
  at: string | null;
  passId: string;
  /** What differs from the state before; null if that is not stored. */
  changes: FieldChange[] | null;
}

/** The life of a row, newest event first. The log has no additions, and no deletions by absence. */
export function historyOf(row: MirrorRowDetail): RowEvent[] {
  const { changes } = row;
  const logged = changes.map((change, index) => ({
    kind: change.kind,
    at: change.at,
    passId: change.passId,
    changes: changesBetween(change.before, bodyAfter(row, index)),
  }));
  const added: RowEvent = {
    kind: "added",
    at: row.firstAt,
    passId: row.firstPass,
    changes: null,
  };
  const isLogged = changes.at(-1)?.kind === "deleted";
  const absent: RowEvent[] =
    row.deletedAt && !isLogged
      ? [{ kind: "deleted", at: row.deletedAt, passId: "", changes: null }]
      : [];
  return [...absent, ...logged.reverse(), added];
}

/** The body after a logged change: the body before the next one, or the present body. */
function bodyAfter(row: MirrorRowDetail, index: number): unknown {
  const next = row.changes[index + 1];
  return next ? next.before : row.body;
}

export interface FieldChange {
  name: string;
  /** Undefined if the field was absent. */
  before: unknown;
  after: unknown;
}

/** Fields whose values differ, in the order of the newer body; null if a body is unknown. */
export function changesBetween(before: unknown, after: unknown): FieldChange[] | null {
  if (!before || !after) return null;
  const [old, now] = [partsOf(before), partsOf(after)];
  const names = [...new Set([...Object.keys(now), ...Object.keys(old)])];
  return names
    .filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]))
    .map((name) => ({ name, before: old[name], after: now[name] }));
}

/** The rows before and after one, among the loaded rows. */
export function besides(
  rows: { count: number; row: (index: number) => Pick<MirrorRow, "rowId"> | undefined },
  rowId: string,
): { previous: string | undefined; next: string | undefined } {
  for (let index = 0; index < rows.count; index += 1) {
    if (rows.row(index)?.rowId === rowId) {
      return { previous: rows.row(index - 1)?.rowId, next: rows.row(index + 1)?.rowId };
    }
  }
  return { previous: undefined, next: undefined };
}
