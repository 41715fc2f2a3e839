import type { Page } from "./types";

/** A loaded page: its cursor, its length, and the cursor of the next page. */
export interface Link {
  after: string | undefined;
  length: number;
  next: string | null;
}

/** Loaded pages in order. The rows themselves are not stored here. */
export type Chain = readonly Link[];

export const EMPTY: Chain = [];

export function lengthOf(chain: Chain): number {
  return chain.reduce((sum, link) => sum + link.length, 0);
}

export function isComplete(chain: Chain): boolean {
  return chain.at(-1)?.next === null;
}

/** The cursor of a page; undefined for the first page of the whole list. */
export function afterOf(chain: Chain, index: number, start: string | undefined) {
  return index === 0 ? start : (chain[index - 1]?.next ?? undefined);
}

/**
 * Adds a page that was just loaded. If the page now ends elsewhere, the pages after it are dropped.
 * A page that does not follow the one before it is ignored.
 */
export function withPage<T>(chain: Chain, index: number, page: Page<T>, after?: string): Chain {
  const old = chain[index];
  if (index > 0 && (after === undefined || chain[index - 1]?.next !== after)) return chain;
  if (old && old.length === page.items.length && old.next === page.next) return chain;
  const link: Link = { after, length: page.items.length, next: page.next };
  const rest = old?.next === page.next ? chain.slice(index + 1) : [];
  return [...chain.slice(0, index), link, ...rest];
}

/** The index of the first row of each page. */
export function startsOf(chain: Chain): number[] {
  const starts: number[] = [];
  let sum = 0;
  for (const link of chain) {
    starts.push(sum);
    sum += link.length;
  }
  return starts;
}

/** The index of the page that contains a row, by bisection. */
export function pageAt(starts: readonly number[], row: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= row) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Keeps the pages that still exist after the chain became shorter. */
export function existing(chain: Chain, pages: readonly number[]): readonly number[] {
  const last = isComplete(chain) ? chain.length - 1 : chain.length;
  const left = pages.filter((page) => page <= last);
  return left.length > 0 ? left : [last];
}

/** The pages needed to show rows `first` to `last`, plus the next page near the end. */
export function pagesFor(chain: Chain, starts: readonly number[], first: number, last: number) {
  if (chain.length === 0) return [0];
  const pages: number[] = [];
  for (let page = pageAt(starts, first); page <= pageAt(starts, last); page += 1) pages.push(page);
  const known = lengthOf(chain);
  if (!isComplete(chain) && last >= known - (chain.at(-1)?.length ?? 0) / 2) {
    pages.push(chain.length);
  }
  return pages;
}
