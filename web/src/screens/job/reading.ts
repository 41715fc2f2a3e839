import { bytes, duration, grouped, inLine } from "../../design";

type Say = (value: number) => string;

const ms: Say = (value) => duration(value / 1_000);

/** What is worth telling of the reading of a source, in this order. */
const TOLD: readonly [string, string, Say][] = [
  ["rows", "Rows read", grouped],
  ["bytes", "Bytes read", bytes],
  ["badRows", "Bad rows", grouped],
  ["sameRows", "Rows met before", grouped],
  ["ingestMs", "Reading took", ms],
  ["latencyEwmaMs", "Writing a batch takes", ms],
];
/** The size of the batch at hand tells a reader nothing. */
const PASSED_OVER = new Set([...TOLD.map(([name]) => name), "batchRows"]);

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
