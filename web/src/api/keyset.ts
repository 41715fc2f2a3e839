import { hashKey, type QueryKey, useQueries, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import {
  afterOf,
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
import { asProblem, type Problem } from "./problem";
import type { Page } from "./types";

const PAGE_SIZE = 200;
const KEPT_MS = 30_000;

export interface PageRequest {
  after: string | undefined;
  pageSize: number;
  signal: AbortSignal;
}

export interface Keyset<T> {
  queryKey: QueryKey;
  fetchPage: (asked: PageRequest) => Promise<Page<T>>;
  pageSize?: number;
  /** The cursor to start at instead of the first row, as a link carries it. */
  start?: string | undefined;
}

/**
 * Rows of a list of any length. Only visible pages are loaded and updated. Of the others only the
 * cursor is kept, so that scrolling back can load them again.
 */
export interface Rows<T> {
  /** Number of rows whose pages were loaded. */
  count: number;
  /** True if `count` is the length of the whole list. */
  complete: boolean;
  /** A row, or undefined while its page is loading. */
  row: (index: number) => T | undefined;
  /** Sets the visible rows. */
  show: (first: number, last: number) => void;
  /** The cursor for a link to this row; undefined for the first page. */
  cursorAt: (index: number) => string | undefined;
  loading: boolean;
  fetching: boolean;
  problem: Problem | null;
  retry: () => void;
}

/** Loads a list page by page, as far as it is visible. */
export function useKeyset<T>(asked: Keyset<T>): Rows<T> {
  const { queryKey, fetchPage, pageSize = PAGE_SIZE, start } = asked;
  const hash = hashKey([queryKey, start, pageSize]);
  const [seen, setSeen] = useState<VisiblePages>({ hash, chain: EMPTY, pages: FIRST });
  const current = seen.hash === hash ? seen : { hash, chain: EMPTY, pages: FIRST };
  const { chain, pages } = current;

  const results = useQueries({
    queries: pages.map((index) => {
      const after = afterOf(chain, index, start);
      return {
        queryKey: [...queryKey, { after, pageSize }],
        queryFn: ({ signal }: { signal: AbortSignal }) => fetchPage({ after, pageSize, signal }),
        gcTime: KEPT_MS,
      };
    }),
  });

  const read = results.reduce(
    (links, { data }, n) =>
      data ? withPage(links, pages[n] ?? 0, data, afterOf(chain, pages[n] ?? 0, start)) : links,
    chain,
  );
  const starts = useMemo(() => startsOf(read), [read]);
  // A page that became shorter may leave the view without rows: the next one is needed at once.
  const wanted = read === chain ? pages : needed(read, starts, pages);
  if (read !== chain || current !== seen) setSeen({ hash, chain: read, pages: wanted });

  const show = useCallback(
    (first: number, last: number) => {
      const next = pagesFor(read, starts, first, last);
      setSeen((old) =>
        old.hash !== hash || String(old.pages) === String(next) ? old : { ...old, pages: next },
      );
    },
    [read, starts, hash],
  );

  const queries = useQueryClient();
  const count = lengthOf(read);
  const failed = results.find((each) => each.error)?.error;
  return {
    count,
    complete: isComplete(read),
    row(index) {
      const page = pageAt(starts, index);
      const n = pages.indexOf(page);
      const offset = index - (starts[page] ?? 0);
      return n < 0 ? undefined : results[n]?.data?.items[offset];
    },
    show,
    cursorAt(index) {
      const page = pageAt(starts, index);
      // A search may find nothing on the first pages. The list still starts after them.
      return starts[page] ? read[page]?.after : start;
    },
    loading: read.length === 0 && !failed,
    fetching: results.some((each) => each.isFetching),
    problem: failed ? asProblem(failed) : null,
    retry: () => void queries.refetchQueries({ queryKey, type: "active" }),
  };
}

interface VisiblePages {
  hash: string;
  chain: Chain;
  pages: readonly number[];
}

const FIRST: readonly number[] = [0];

function needed(chain: Chain, starts: readonly number[], pages: readonly number[]) {
  const first = starts[pages[0] ?? 0] ?? 0;
  const isShort = lengthOf(chain) === 0 && !isComplete(chain);
  return isShort ? pagesFor(chain, starts, first, first) : existing(chain, pages);
}

interface Fetched {
  error: unknown;
  isFetching: boolean;
  refetch: () => unknown;
}

/** A short list that is loaded completely, as rows of a grid. */
export function listed<T>(items: readonly T[] | undefined, query: Fetched): Rows<T> {
  return {
    count: items?.length ?? 0,
    complete: items !== undefined,
    row: (index) => items?.[index],
    show: () => {},
    cursorAt: () => undefined,
    loading: items === undefined && !query.error,
    fetching: query.isFetching,
    problem: items === undefined && query.error ? asProblem(query.error) : null,
    retry: () => void query.refetch(),
  };
}
