import { expect, it } from "vitest";
import { readingOf } from "./reading";

it("tells how a source was read in words, and passes nothing over that it does not know", () => {
  const ingest = { bytes: 1_074_772, rows: 60_000, batchRows: 0, ingestMs: 2_193.7, other: 3 };
  expect(readingOf(ingest)).toEqual([
    { name: "Rows read", words: "60,000" },
    { name: "Bytes read", words: "1.1 MB" },
    { name: "Reading took", words: "2.2 s" },
    { name: "other", words: "3" },
  ]);
});
