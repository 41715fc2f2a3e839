import { expect, it } from "vitest";
import { countsOf } from "../../testing/counts";
import { matchingOf, readingOf, readSoFar, toneOf, wordOf } from "./model";

it("has a word for every kind, also for one that it does not know", () => {
  expect(wordOf("job_state")).toBe("State");
  expect(wordOf("moon_landed")).toBe("Moon landed");
  expect(toneOf("moon_landed")).toBe("pending");
});

it("tells how a source was read in words, and passes nothing over that it does not know", () => {
  const ingest = { bytes: 1_074_772, rows: 60_000, batchRows: 0, ingestMs: 2_193.7, other: 3 };
  expect(readingOf(ingest)).toEqual([
    { name: "Rows read", words: "60,000" },
    { name: "Bytes read", words: "1.1 MB" },
    { name: "Reading time", words: "2.2 s" },
    { name: "other", words: "3" },
  ]);
});

it("tells how much of the file is read, where its size is known", () => {
  expect(readSoFar({ bytes: 750, fileBytes: 3_000, at: 1 })).toEqual({
    share: 0.25,
    size: { read: 750, whole: 3_000 },
  });
  expect(readSoFar({ bytes: 750 })).toEqual({ share: null, size: null });
  expect(readSoFar({})).toEqual({ share: null, size: null });
  expect(readingOf({ bytes: 750, fileBytes: 3_000, at: 1 })).toEqual([
    { name: "Bytes read", words: "750 B" },
    { name: "File size", words: "3.0 kB" },
  ]);
});

const COUNTS = countsOf({ pending: 1, processing: 2, done: 20, notFound: 3, error: 4 });

it("knows how many match from the counters, and says nothing where it cannot", () => {
  expect(matchingOf(COUNTS, {})).toBe(30);
  expect(matchingOf(COUNTS, { statuses: "ERROR,NOT_FOUND" })).toBe(7);
  expect(matchingOf(COUNTS, { statuses: "ERROR", q: "x" })).toBeUndefined();
  expect(matchingOf(COUNTS, { errorClass: "timeout" })).toBeUndefined();
});
