import { useQuery } from "@tanstack/react-query";
import { api, dataOf, query } from "./client";
import { useKeyset } from "./keyset";
import { keys } from "./queries";
import type { StreamPlace } from "./types";

export interface RowFilter {
  /** Also lists deleted rows. */
  deleted?: true | undefined;
}

/** Rows of a stream in the order in which they were first seen. */
export function useRows(place: StreamPlace, filter: RowFilter, start?: string) {
  return useKeyset({
    queryKey: [...keys.stream(place), "rows", filter],
    start,
    fetchPage: ({ after, pageSize, signal }) =>
      dataOf(
        api.GET("/api/mirrors/{mirrorId}/streams/{streamId}/rows", {
          params: { path: place, query: query({ ...filter, pageSize, after }) },
          signal,
        }),
      ),
  });
}

/** One row with the log of its changes. */
export function useRow(place: StreamPlace, id: string) {
  return useQuery({
    queryKey: [...keys.stream(place), "row", id],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/api/mirrors/{mirrorId}/streams/{streamId}/row", {
          params: { path: place, query: { id } },
          signal,
        }),
      ),
  });
}

/** Logged changes of a stream, oldest first. */
export function useRowChanges(place: StreamPlace, start?: string) {
  return useKeyset({
    queryKey: [...keys.stream(place), "changes"],
    start,
    fetchPage: ({ after, pageSize, signal }) =>
      dataOf(
        api.GET("/api/mirrors/{mirrorId}/streams/{streamId}/changes", {
          params: { path: place, query: query({ pageSize, after }) },
          signal,
        }),
      ),
  });
}

/** Fields that rows of a stream have had, in the order in which they were first seen. */
export function useStreamFields(place: StreamPlace) {
  return useQuery({
    queryKey: [...keys.stream(place), "fields"],
    queryFn: async ({ signal }) =>
      (
        await dataOf(
          api.GET("/api/mirrors/{mirrorId}/streams/{streamId}/fields", {
            params: { path: place },
            signal,
          }),
        )
      ).items,
  });
}

export interface PassPair {
  from: string;
  to: string;
}

/** How rows differ between the ends of two passes. */
export function useDifferences(place: StreamPlace, pair: PassPair, start?: string) {
  return useKeyset({
    queryKey: [...keys.stream(place), "differences", pair],
    start,
    fetchPage: ({ after, pageSize, signal }) =>
      dataOf(
        api.GET("/api/mirrors/{mirrorId}/streams/{streamId}/differences", {
          params: { path: place, query: query({ ...pair, pageSize, after }) },
          signal,
        }),
      ),
  });
}
