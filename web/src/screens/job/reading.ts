import { bytes, duration, grouped, inLine } from "../../design";

type Say = (value: number) => string;

const ms: Say = (value) => duration(value / 1_000);

/** Figures of reading a source, in this order. */
const TOLD: readonly [string, string, Say][] = [
  ["rows", "Rows read", grouped],
  ["bytes", "Bytes read", bytes],
  ["fileBytes", "File size", bytes],
  ["badRows", "Invalid rows", grouped],
  ["sameRows", "Duplicates skipped", grouped],
  ["ingestMs", "Reading time", ms],
  ["latencyEwmaMs", "Time per batch", ms],
];
/** Batch size and time of the last report are of no use to a reader. */
const PASSED_OVER = new Set([...TOLD.map(([name]) => name), "batchRows", "at"]);

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
  const told = TOLD.flatMap(([key, name, say]) => {
    const value = ingest[key];
    return typeof value === "number" ? [{ name, words: say(value) }] : [];
  });
  const others = Object.entries(ingest)
    .filter(([key]) => !PASSED_OVER.has(key))
    .map(([name, value]) => ({
      name,
      words: typeof value === "number" ? grouped(value) : inLine(value),
    }));
  return [...told, ...others];
}
