import { describe, expect, it } from "vitest";
import { countsOf } from "../testing/counts";
import {
  bytes,
  counted,
  duration,
  grouped,
  inLine,
  partsOf,
  percent,
  perSecond,
  sentence,
} from "./format";
import { inWords } from "./ProgressBar";
import { agoInWords, utc } from "./Time";

describe("numbers", () => {
  it("are grouped", () => expect(grouped(1_234_567)).toBe("1,234,567"));

  it("name what they count", () => {
    expect(counted(1, "item")).toBe("1 item");
    expect(counted(0, "item")).toBe("0 items");
    expect(counted(1_204, "dead letter")).toBe("1,204 dead letters");
  });

  it.each([
    [null, "–"],
    [0, "0/s"],
    [0.05, "3/min"],
    [12.345, "12.3/s"],
    [1_250, "1,250/s"],
  ])("a rate of %s is %s", (rate, words) => expect(perSecond(rate)).toBe(words));

  it.each([
    [0, "0 %"],
    [0.0001, "< 0.1 %"],
    [0.034, "3.4 %"],
    [0.5, "50 %"],
  ])("a share of %s is %s", (share, words) => expect(percent(share)).toBe(words));

  it.each([
    [0.25, "250 ms"],
    [4.21, "4.2 s"],
    [9, "9 s"],
    [75, "75 s"],
    [600, "10 min"],
    [7_500, "2 h 5 min"],
    [200_000, "2 d"],
  ])("%s seconds are %s", (seconds, words) => expect(duration(seconds)).toBe(words));

  it.each([
    [512, "512 B"],
    [1_500_000, "1.5 MB"],
  ])("%s bytes are %s", (size, words) => expect(bytes(size)).toBe(words));
});

describe("times", () => {
  it.each([
    [0, "just now"],
    [-1_000, "now"],
    [12_000, "12 s ago"],
    [-180_000, "in 3 min"],
  ])("%s ms before now is %s", (before, words) =>
    expect(agoInWords(1_000_000 - before, 1_000_000)).toBe(words),
  );

  it("have UTC at hand", () => {
    expect(utc("2026-03-01T13:00:00.5+01:00")).toBe("2026-03-01 12:00:00 UTC");
  });
});

describe("progress in words", () => {
  it("names what there is", () => {
    const counts = countsOf({ pending: 796, done: 1_200, error: 4 });
    expect(inWords(counts)).toBe("1,204 of 2,000 finished: 1,200 done, 4 errors");
    expect(inWords(countsOf({ error: 1 }))).toBe("1 of 1 finished: 1 error");
  });
});

describe("a sentence", () => {
  it.each([
    ["no row can be used", "No row can be used."],
    ["line 3: 2 values for 3 columns", "Line 3: 2 values for 3 columns."],
    ["empty.csv is empty", "empty.csv is empty."],
    [
      "my orders of may.xlsx has a header but no rows",
      "my orders of may.xlsx has a header but no rows.",
    ],
    ["https://a.example does not answer", "https://a.example does not answer."],
    ["max_age must be at most 365", "max_age must be at most 365."],
    ["is it there?", "Is it there?"],
    ["wrong name or password", "Wrong name or password."],
    ["nothing. empty.csv has gone", "Nothing. empty.csv has gone."],
  ])("of “%s” is “%s”", (text, said) => expect(sentence(text)).toBe(said));
});

it("says any stored value in one line", () => {
  expect([inLine("a"), inLine(3.5), inLine(false), inLine(null)]).toEqual([
    "a",
    "3.5",
    "false",
    "",
  ]);
  expect(inLine({ a: [1, null] })).toBe('{"a":[1,null]}');
});

it("finds parts in objects only", () => {
  expect(partsOf({ a: 1 })).toEqual({ a: 1 });
  expect([partsOf([1]), partsOf("a"), partsOf(null)]).toEqual([{}, {}, {}]);
});
