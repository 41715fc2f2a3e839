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
  /** Item statuses with commas in between. */
  statuses?: string | undefined;
  q?: string | undefined;
  errorClass?: string | undefined;
  signature?: string | undefined;
  /** Input order, or longest unchanged first. */
  order?: "input" | "updated" | undefined;
  /** Changed at or after this moment, ISO 8601; in the order of changes only. */
  from?: string | undefined;
  /** Also have each say what it waits for. */
  waits?: boolean | undefined;
}

/** Items of a job, as far as they are scrolled to. */
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

/** An item with its input, its attempts and their calls. */
export function useItem(id: string) {
  return useQuery(itemQuery(id));
}

/** What an item waits for; null once it is finished. */
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
  /** Changed at or after this moment, ISO 8601. */
  from?: string | undefined;
  to?: string | undefined;
}

/** What waits or runs, across jobs, longest unchanged first. */
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

/** How long the oldest has stood, for each job and for each provider. */
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

/** What ended in ERROR, across jobs, longest dead first. */
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

/** How many dead letters there are, and in which jobs. */
export function useDeadTotals(filter: DeadLetterFilter) {
  return useQuery({
    queryKey: [...keys.deadLetters, "jobs", filter],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/dead-letters/jobs", { params: { query: query(filter) }, signal })),
    placeholderData: keepPreviousData,
  });
}

/** How many dead letters a replay would bring back: the server counts, nothing changes. */
export async function countReplay(body: ReplayRequest): Promise<number> {
  return (await dataOf(api.POST("/api/dead-letters/replay", { body: { ...body, dryRun: true } })))
    .count;
}

/** How many finished items of all jobs would come back: the server counts, nothing changes. */
export async function countAcross(body: AcrossRequest): Promise<number> {
  return (await dataOf(api.POST("/api/pending/reprocess", { body: { ...body, dryRun: true } })))
    .count;
}

/** Brings finished items of all jobs back; answers with how many, and in which jobs. */
export function useReprocessAcross() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: AcrossRequest) => dataOf(api.POST("/api/pending/reprocess", { body })),
    onSuccess: ({ jobIds }) =>
      Promise.all(jobIds.map((id) => queries.invalidateQueries({ queryKey: keys.job(id) }))),
  });
}

/** Brings dead letters back; answers with how many, and in which jobs. */
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

/** What waits for a person, across jobs or in one, longest waiting first. */
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

/** A person's word on an item in REVIEW. */
export type Decision =
  | { move: "accept"; candidateId: string; reason?: string }
  | { move: "reject" | "skip"; reason?: string };

/** Decides an item in REVIEW; answers with the item as it then is. */
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
      // Whoever decides goes on to the next item at once, and does not wait for lists.
      void queries.invalidateQueries({ queryKey: keys.job(item.jobId) });
      // The server tells of every decision, and then the line is read again: once is enough.
      void queries.invalidateQueries({ queryKey: keys.reviews, refetchType: "none" });
    },
  });
}
