import { describe, expect, it } from "vitest";
import {
  type Chain,
  EMPTY,
  existing,
  isComplete,
  lengthOf,
  pageAt,
  pagesFor,
  startsOf,
  withPage,
} from "./chain";

const page = (length: number, next: string | null) => ({ items: Array(length).fill(0), next });

function chainOf(...pages: [number, string | null][]): Chain {
  return pages.reduce<Chain>(
    (chain, [n, next], at) => withPage(chain, at, page(n, next), chain.at(-1)?.next ?? undefined),
    EMPTY,
  );
}

describe("a chain of pages", () => {
  it("knows its rows and its end", () => {
    const chain = chainOf([3, "a"], [2, "b"]);
    expect(lengthOf(chain)).toBe(5);
    expect(isComplete(chain)).toBe(false);
    expect(isComplete(withPage(chain, 2, page(0, null), "b"))).toBe(true);
  });

  it("stays the same chain when a page is read again and is the same", () => {
    const chain = chainOf([3, "a"], [2, "b"]);
    expect(withPage(chain, 0, page(3, "a"))).toBe(chain);
  });

  it("forgets what followed a page that now ends elsewhere", () => {
    const chain = chainOf([3, "a"], [2, "b"], [1, null]);
    const shifted = withPage(chain, 1, page(2, "z"), "a");
    expect(shifted.map((link) => link.next)).toEqual(["a", "z"]);
  });

  it("keeps what follows a page that only grew shorter", () => {
    const chain = chainOf([3, "a"], [2, "b"], [1, null]);
    expect(lengthOf(withPage(chain, 0, page(1, "a")))).toBe(4);
  });

  it("passes over a page that nothing leads to", () => {
    expect(withPage(EMPTY, 2, page(3, null), "x")).toBe(EMPTY);
    const complete = chainOf([3, null]);
    expect(withPage(complete, 1, page(3, "b"), "a")).toBe(complete);
  });

  it("finds the page of every row, past pages without rows", () => {
    const starts = startsOf(chainOf([2, "a"], [0, "b"], [3, null]));
    expect([0, 1, 2, 4].map((row) => pageAt(starts, row))).toEqual([0, 0, 2, 2]);
  });
});

describe("the pages that are wanted", () => {
  const wanted = (chain: Chain, first: number, last: number) =>
    pagesFor(chain, startsOf(chain), first, last);

  it("are the first one to begin with", () => {
    expect(wanted(EMPTY, 0, 0)).toEqual([0]);
  });

  it("are those in sight, wherever that is", () => {
    const chain = chainOf([100, "a"], [100, "b"], [100, "c"], [100, "d"]);
    expect(wanted(chain, 90, 110)).toEqual([0, 1]);
    expect(wanted(chain, 210, 220)).toEqual([2]);
  });

  it("are also the next one near the end, and none past the end", () => {
    expect(wanted(chainOf([100, "a"]), 40, 60)).toEqual([0, 1]);
    expect(wanted(chainOf([100, "a"]), 0, 20)).toEqual([0]);
    expect(wanted(chainOf([100, null]), 40, 99)).toEqual([0]);
  });

  it("are no longer those behind a chain that has become shorter", () => {
    expect(existing(chainOf([4, null]), [0, 1])).toEqual([0]);
    expect(existing(chainOf([4, null]), [2, 3])).toEqual([0]);
    expect(existing(chainOf([4, "a"]), [0, 1, 2])).toEqual([0, 1]);
  });

  it("go on while pages are empty", () => {
    expect(wanted(chainOf([0, "a"], [0, "b"]), 0, 0)).toContain(2);
  });
});
