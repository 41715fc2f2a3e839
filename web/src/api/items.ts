import {
  keepPreviousData,
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { api, dataOf, query } from "./client";
import { keys } from "./keys";
import { useKeyset } from "./keyset";
import type { AcrossRequest, ReplayRequest } from "./types";

export interface ItemFilter {
  /** Item statuses, separated by commas. */
  statuses?: string | undefined;
  q?: string | undefined;
  errorClass?: string | undefined;
  signature?: string | undefined;
  order?: "input" | "updated" | undefined;
  /** Changed at or after this time, ISO 8601; only with `order: "updated"`. */
  from?: string | undefined;
  /** Also return why each item waits. */
  waits?: boolean | undefined;
}

/** Items of a job; pages load on scrolling. */
export function useItems(jobId: string, filter: ItemFilter, start?: string) {
  return useKeyset({
    queryKey: keys.itemList(jobId, filter),
    start,
    fetchPage: ({ after, pageSize, signal }) =>
      dataOf(
        api.GET("/api/jobs/{jobId}/items", {
          params: { path: { jobId }, query: query({ ...filter, pageSize, after }) },
          signal,
        }),
      ),
  });
}

export function itemQuery(id: string) {
  return queryOptions({
    queryKey: keys.item(id),
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/items/{itemId}", { params: { path: { itemId: id } }, signal })),
  });
}

export function useItem(id: string) {
  return useQuery(itemQuery(id));
}

/** Why an item waits; null once it is finished. */
export function useWhy(id: string, enabled = true) {
  return useQuery({
    queryKey: keys.why(id),
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/items/{itemId}/why", { params: { path: { itemId: id } }, signal })),
    enabled,
  });
}

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

/** A user's decision on an item in REVIEW. */
export type Decision =
  | { move: "accept"; candidateId: string; reason?: string }
  | { move: "reject" | "skip"; reason?: string };

/** Decides an item in REVIEW; returns the updated item. */
export function useDecide() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id, decision }: { id: string; decision: Decision }) => {
      const params = { path: { itemId: id } };
      const reason = decision.reason ?? "";
      return decision.move === "accept"
        ? dataOf(
            api.POST("/api/items/{itemId}/accept", {
              params,
              body: { candidateId: decision.candidateId, reason },
            }),
          )
        : dataOf(api.POST(`/api/items/{itemId}/${decision.move}`, { params, body: { reason } }));
    },
    onSuccess: (item) => {
      queries.setQueryData(keys.item(item.id), item);
      // The user goes on to the next item at once and does not wait for lists.
      void queries.invalidateQueries({ queryKey: keys.job(item.jobId) });
      // The server sends an event for every decision, which reloads the list. Once is enough.
      void queries.invalidateQueries({ queryKey: keys.reviews, refetchType: "none" });
    },
  });
}
