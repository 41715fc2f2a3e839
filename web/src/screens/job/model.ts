import { type Counts, countOf, type Gate, type ItemFilter } from "../../api";
import { bytes, duration, grouped, inLine, type Tone } from "../../design";
import type { GateMessage } from "../../live";

const KINDS: Record<string, { word: string; tone: Tone }> = {
  job_state: { word: "State", tone: "processing" },
  job_priority: { word: "Priority", tone: "processing" },
  job_closed: { word: "Closed", tone: "processing" },
  export_asked: { word: "Export", tone: "done" },
  export_state: { word: "Export", tone: "done" },
  export_dropped: { word: "Export", tone: "skipped" },
  decided: { word: "Review", tone: "review" },
  rescued: { word: "Recovered", tone: "warn" },
  host: { word: "Host", tone: "warn" },
  worker_crashed: { word: "Crash", tone: "error" },
  handler_warning: { word: "Handler", tone: "warn" },
  discarded: { word: "Late result", tone: "warn" },
  asked: { word: "Request", tone: "processing" },
  items_discarded: { word: "Discarded", tone: "cancelled" },
};

/** Label of an event kind; unknown kinds keep the server's name. */
export function wordOf(kind: string): string {
  const plain = kind.replaceAll("_", " ");
  return KINDS[kind]?.word ?? plain.charAt(0).toUpperCase() + plain.slice(1);
}

export function toneOf(kind: string): Tone {
  return KINDS[kind]?.tone ?? "pending";
}

/** Updates one gate from a message. */
export function withMessage(gates: readonly Gate[], message: GateMessage): Gate[] {
  const { at: _, closedUntil, ...fresh } = message;
  const until = closedUntil === null ? null : new Date(closedUntil * 1000).toISOString();
  return gates.map((gate) =>
    gate.key === message.key ? { ...gate, ...fresh, closedUntil: until } : gate,
  );
}

type Format = (value: number) => string;

const ms: Format = (value) => duration(value / 1_000);

/** Figures of reading a source, in this order. */
const FIGURES: readonly [string, string, Format][] = [
  ["rows", "Rows read", grouped],
  ["bytes", "Bytes read", bytes],
  ["fileBytes", "File size", bytes],
  ["badRows", "Invalid rows", grouped],
  ["sameRows", "Duplicates skipped", grouped],
  ["ingestMs", "Reading time", ms],
  ["latencyEwmaMs", "Time per batch", ms],
];
/** Batch size and time of the last report are of no use to a reader. */
const NOT_SHOWN = new Set([...FIGURES.map(([name]) => name), "batchRows", "at"]);

/** How much of the file is read. The size is known for files that are read line by line. */
export function readSoFar(ingest: Readonly<Record<string, unknown>>): {
  share: number | null;
  size: { read: number; whole: number } | null;
} {
  const { bytes: read, fileBytes: whole } = ingest;
  if (typeof read !== "number" || typeof whole !== "number" || whole <= 0) {
    return { share: null, size: null };
  }
  return { share: Math.min(read / whole, 1), size: { read: Math.min(read, whole), whole } };
}

/** The reading figures of a job in words. Unknown ones keep the server's name. */
export function readingOf(ingest: Readonly<Record<string, unknown>>) {
  const told = FIGURES.flatMap(([key, name, say]) => {
    const value = ingest[key];
    return typeof value === "number" ? [{ name, words: say(value) }] : [];
  });
  const others = Object.entries(ingest)
    .filter(([key]) => !NOT_SHOWN.has(key))
    .map(([name, value]) => ({
      name,
      words: typeof value === "number" ? grouped(value) : inLine(value),
    }));
  return [...told, ...others];
}

/**
 * Number of matching items if the counters know it. Only the server can count text and error
 * matches.
 */
export function matchingOf(counts: Counts, filter: ItemFilter): number | undefined {
  if (filter.q || filter.errorClass || filter.signature) return undefined;
  if (!filter.statuses) return counts.total;
  const statuses = filter.statuses.split(",");
  return statuses.reduce((sum, status) => sum + countOf(counts, status), 0);
}
