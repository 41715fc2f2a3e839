import type { Page } from "./types";

/** A page that was read: where it began, how long it was, and where the next one begins. */
export interface Link {
  after: string | undefined;
  length: number;
  next: string | null;
}

/** Pages in order, from the first one that was asked for. Rows themselves are not held here. */
export type Chain = readonly Link[];

export const EMPTY: Chain = [];

/** How many rows are known. */
export function lengthOf(chain: Chain): number {
  return chain.reduce((sum, link) => sum + link.length, 0);
}

/** Whether the last page was read. */
export function isComplete(chain: Chain): boolean {
  return chain.at(-1)?.next === null;
}

/** Where a page begins; undefined also for the very first one. */
export function afterOf(chain: Chain, index: number, start: string | undefined) {
  return index === 0 ? start : (chain[index - 1]?.next ?? undefined);
}

/**
 * The chain with a page in it as it was just read. Where the page now ends elsewhere, what was
 * known of the pages behind it holds no more; and a page that nothing leads to is passed over.
 */
export function withPage<T>(chain: Chain, index: number, page: Page<T>, after?: string): Chain {
  const old = chain[index];
  if (index > 0 && (after === undefined || chain[index - 1]?.next !== after)) return chain;
  if (old && old.length === page.items.length && old.next === page.next) return chain;
  const link: Link = { after, length: page.items.length, next: page.next };
  const rest = old?.next === page.next ? chain.slice(index + 1) : [];
  return [...chain.slice(0, index), link, ...rest];
}

/** The row number at which each page begins. */
export function startsOf(chain: Chain): number[] {
  const starts: number[] = [];
  let sum = 0;
  for (const link of chain) {
    starts.push(sum);
    sum += link.length;
  }
  return starts;
}

/** The page that holds a row, by bisection. */
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

/** Pages of those that still stand, when the chain may have become shorter. */
export function existing(chain: Chain, pages: readonly number[]): readonly number[] {
  const last = isComplete(chain) ? chain.length - 1 : chain.length;
  const left = pages.filter((page) => page <= last);
  return left.length > 0 ? left : [last];
}

/** Pages that must be at hand to show rows `first` to `last`, and the next one near the end. */
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
