import { expect, it } from "vitest";
import { readingOf, readSoFar } from "./reading";

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
