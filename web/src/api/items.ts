import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, dataOf, query } from "./client";
import { useKeyset } from "./keyset";
import { keys } from "./queries";

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
