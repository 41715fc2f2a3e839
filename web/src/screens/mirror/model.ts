import {
  type Checkpoint,
  type Difference,
  isUnfinished,
  type Mirror,
  type NextPassRequest,
  type Pass,
  type Rows,
  type Stream,
} from "../../api";
import { counted, inLine } from "../../design";
import { isInterrupted, rowsSeen, startOf } from "../mirrors/model";

/** A stream of a mirror, with its state in the newest pass. */
export interface StreamRow {
  stream: Stream;
  /** Null if the newest pass did not list this stream. */
  checkpoint: Checkpoint | null;
  isRunning: boolean;
}

/** Streams with what the newest pass saw of them. Streams of that pass come first. */
export function streamRows({ streams, newest }: Pick<Mirror, "streams" | "newest">): StreamRow[] {
  const found = new Map(newest?.checkpoints.map((each) => [each.streamId, each]));
  const isRunning = newest?.job ? isUnfinished(newest.job) : false;
  const rows = streams.map((stream) => ({
    stream,
    checkpoint: found.get(stream.id) ?? null,
    isRunning,
  }));
  return [...rows.filter((row) => row.checkpoint), ...rows.filter((row) => !row.checkpoint)];
}

/** What did not fit together while the pages of a stream were listed; empty if all did. */
export function driftOf(checkpoint: Checkpoint): string {
  const { mode, total, proof, evidence } = checkpoint;
  const { rounds, gaps } = evidence ?? {};
  const isOff = mode === "full" && proof !== null && total !== null;
  return [
    typeof rounds === "number" && rounds > 0 ? counted(rounds, "repair") : "",
    Array.isArray(gaps) && gaps.length > 0 ? counted(gaps.length, "gap") : "",
    isOff && total !== rowsSeen(checkpoint) ? `source says ${counted(total, "row")}` : "",
  ]
    .filter(Boolean)
    .join(", ");
}

/** "5 rows seen twice": pages overlap on purpose, or rows moved between pages. */
export function repeatedOf({ repeated }: Checkpoint): string {
  return repeated > 0 ? `${counted(repeated, "row")} seen twice` : "";
}

/** Evidence of a proof as lines; lists are shown as JSON. */
export function evidenceOf({ evidence }: Checkpoint): { name: string; words: string }[] {
  return Object.entries(evidence ?? {}).map(([name, value]) => ({ name, words: inLine(value) }));
}

/** Seconds from the first to the last moment of a pass; null while it runs. */
export function secondsOf({ checkpoints, job }: Pass): number | null {
  const from = times(checkpoints.map(({ startedAt }) => startedAt));
  const to = times([...checkpoints.map(({ completedAt }) => completedAt), job?.finishedAt ?? null]);
  if (from.length === 0 || to.length === 0 || (job && isUnfinished(job))) return null;
  return (Math.max(...to) - Math.min(...from)) / 1_000;
}

function times(moments: readonly (string | null)[]): number[] {
  return moments.flatMap((at) => (at ? [new Date(at).getTime()] : []));
}

/** What the user chose for the next pass. */
export interface PassChoice {
  /** Names of streams; empty: all that the source selects. */
  streams: readonly string[];
  full: boolean;
  since: string;
  /** Gives an interrupted pass up instead of continuing it. */
  giveUp: boolean;
}

export const USUAL: PassChoice = { streams: [], full: false, since: "", giveUp: false };

/** The request for a pass. An interrupted pass continues as it was begun, without options. */
export function requestOf(newest: Pass | null, choice: PassChoice): NextPassRequest {
  if (newest && isInterrupted(newest) && !choice.giveUp) return {};
  const { streams, full, since } = choice;
  return {
    ...(streams.length ? { streams: [...streams] } : {}),
    ...(full ? { full } : {}),
    ...(!full && since.trim() ? { since: since.trim() } : {}),
    ...(choice.giveUp ? { newPass: true } : {}),
  };
}

/** Number of pages of a pass that failed. */
export function failedIn(pass: Pass | null): number {
  return pass?.job?.counts.error ?? 0;
}

/** The passes and the stream to compare; null if there are no two passes yet. */
export interface Comparison {
  streamId: string;
  from: string;
  to: string;
}

/** The comparison in the URL, completed: the newest pass with the one before it. */
export function comparisonOf(
  chosen: { stream?: string | undefined; from?: string | undefined; to?: string | undefined },
  { streams }: Pick<Mirror, "streams">,
  passes: readonly Pick<Pass, "id">[],
): Comparison | null {
  const to = chosen.to ?? passes[0]?.id;
  const from = chosen.from ?? passes.find(({ id }) => Number(id) < Number(to))?.id;
  const streamId = chosen.stream ?? streams[0]?.id;
  return to && from && streamId ? { streamId, from, to } : null;
}

/** Passes that are loaded of a list. */
export function loadedOf(rows: Pick<Rows<Pass>, "count" | "row">): Pass[] {
  return Array.from({ length: rows.count }, (_, index) => rows.row(index)).filter(
    (pass) => pass !== undefined,
  );
}

/** Passes to choose from; one that is only in the URL is offered too. */
export function passChoices(passes: readonly Pass[], chosen: string) {
  const known = passes.map((pass) => ({ value: pass.id, label: labelOf(pass) }));
  return known.some(({ value }) => value === chosen)
    ? known
    : [...known, { value: chosen, label: `Pass ${chosen}` }];
}

function labelOf(pass: Pass): string {
  const at = startOf(pass);
  return at ? `Pass ${pass.id}, ${WHEN.format(new Date(at))}` : `Pass ${pass.id}`;
}

const WHEN = new Intl.DateTimeFormat(undefined, { dateStyle: "short", timeStyle: "short" });

/** What a row of differences says in one line. */
export function differenceInWords({ kind, fields, before, after }: Difference): string {
  if (kind === "changed") {
    return fields.length ? fields.join(", ") : "The body of the older pass is not stored";
  }
  return inLine(after ?? before);
}
