import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, dataOf, query } from "./client";
import { useKeyset } from "./keyset";
import { keys } from "./queries";
import type { AcrossRequest, ReplayRequest } from "./types";

export interface PendingFilter {
  statuses?: string | undefined;
  userId?: "me" | "all" | undefined;
  jobType?: string | undefined;
  jobId?: string | undefined;
  /** Changed at or after this time, ISO 8601. */
  from?: string | undefined;
  to?: string | undefined;
}

/** Pending and processing items across jobs, longest unchanged first. */
export function usePending(filter: PendingFilter, start?: string) {
  return useKeyset({
    queryKey: keys.pendingList(filter),
    start,
    pageSize: 1_000,
    fetchPage: ({ after, pageSize, signal }) =>
      dataOf(
        api.GET("/api/pending", {
          params: { query: query({ ...filter, pageSize, after }) },
          signal,
        }),
      ),
  });
}

/** The age of the oldest open item, for each job and for each provider. */
export function useOldest(userId: "me" | "all", enabled = true) {
  return useQuery({
    queryKey: [...keys.pending, "oldest", userId],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/pending/oldest", { params: { query: { userId } }, signal })),
    enabled,
  });
}

export interface DeadLetterFilter {
  errorClass?: string | undefined;
  jobType?: string | undefined;
}

/** Items in ERROR across jobs, oldest failure first. */
export function useDeadLetters(filter: DeadLetterFilter, start?: string) {
  return useKeyset({
    queryKey: keys.deadLetterList(filter),
    start,
    fetchPage: ({ after, pageSize, signal }) =>
      dataOf(
        api.GET("/api/dead-letters", {
          params: { query: query({ ...filter, pageSize, after }) },
          signal,
        }),
      ),
  });
}

export function useDeadTotals(filter: DeadLetterFilter) {
  return useQuery({
    queryKey: [...keys.deadLetters, "jobs", filter],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/dead-letters/jobs", { params: { query: query(filter) }, signal })),
    placeholderData: keepPreviousData,
  });
}

/** Counts the dead letters of a replay on the server, without changing anything. */
export async function countReplay(body: ReplayRequest): Promise<number> {
  return (await dataOf(api.POST("/api/dead-letters/replay", { body: { ...body, dryRun: true } })))
    .count;
}

/** Counts finished items across jobs on the server, without changing anything. */
export async function countAcross(body: AcrossRequest): Promise<number> {
  return (await dataOf(api.POST("/api/pending/reprocess", { body: { ...body, dryRun: true } })))
    .count;
}

/** Moves finished items of all jobs back to PENDING; returns their number and jobs. */
export function useReprocessAcross() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: AcrossRequest) => dataOf(api.POST("/api/pending/reprocess", { body })),
    onSuccess: ({ jobIds }) =>
      Promise.all(jobIds.map((id) => queries.invalidateQueries({ queryKey: keys.job(id) }))),
  });
}

/** Moves dead letters back to PENDING; returns their number and jobs. */
export function useReplay() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: ReplayRequest) => dataOf(api.POST("/api/dead-letters/replay", { body })),
    onSuccess: ({ jobIds }) =>
      Promise.all([
        queries.invalidateQueries({ queryKey: keys.deadLetters }),
        ...jobIds.map((id) => queries.invalidateQueries({ queryKey: keys.job(id) })),
      ]),
  });
}

/** Items in REVIEW, across jobs or in one, longest waiting first. */
export function useReviews(filter: { jobId?: string | undefined }, start?: string) {
  return useKeyset({
    queryKey: keys.reviewList(filter),
    start,
    fetchPage: ({ after, pageSize, signal }) =>
      dataOf(
        api.GET("/api/reviews", {
          params: { query: query({ ...filter, pageSize, after }) },
          signal,
        }),
      ),
  });
}
