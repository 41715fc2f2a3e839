import type { Rows } from "./keyset";
import { asProblem } from "./problem";

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
