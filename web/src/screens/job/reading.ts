import { bytes, duration, grouped, inLine } from "../../design";

type Say = (value: number) => string;

const ms: Say = (value) => duration(value / 1_000);

/** What is worth telling of the reading of a source, in this order. */
const TOLD: readonly [string, string, Say][] = [
  ["rows", "Rows read", grouped],
  ["bytes", "Bytes read", bytes],
  ["fileBytes", "File size", bytes],
  ["badRows", "Invalid rows", grouped],
  ["sameRows", "Duplicates skipped", grouped],
  ["ingestMs", "Reading time", ms],
  ["latencyEwmaMs", "Time per batch", ms],
];
/** The size of the batch at hand, and when it was told, tell a reader nothing. */
const PASSED_OVER = new Set([...TOLD.map(([name]) => name), "batchRows", "at"]);

/** How much of the file is read; the size is known of files that are read line by line. */
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

/** The figures of a job's reading as words; what is not known by name comes as the server calls it. */
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
