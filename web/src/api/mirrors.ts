import {
  type QueryClient,
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { api, dataOf, query } from "./client";
import { useKeyset } from "./keyset";
import { keys } from "./queries";
import type { NextPassRequest, SourcePassRequest } from "./types";

/** Mirrors by name, each with its streams and its newest pass. */
export function useMirrors() {
  return useQuery({
    queryKey: keys.mirrors,
    queryFn: async ({ signal }) => (await dataOf(api.GET("/api/mirrors", { signal }))).items,
  });
}

export function mirrorQuery(id: string) {
  return queryOptions({
    queryKey: keys.mirror(id),
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/mirrors/{mirrorId}", { params: { path: { mirrorId: id } }, signal })),
  });
}

/** A mirror with the description of its source. */
export function useMirror(id: string) {
  return useQuery(mirrorQuery(id));
}

/** Passes of a mirror, newest first. */
export function usePasses(mirrorId: string, start?: string) {
  return useKeyset({
    queryKey: keys.passes(mirrorId),
    start,
    pageSize: 50,
    fetchPage: ({ after, pageSize, signal }) =>
      dataOf(
        api.GET("/api/mirrors/{mirrorId}/passes", {
          params: { path: { mirrorId }, query: query({ pageSize, after }) },
          signal,
        }),
      ),
  });
}

export function usePass(id: string) {
  return useQuery({
    queryKey: keys.pass(id),
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/passes/{jobId}", { params: { path: { jobId: id } }, signal })),
  });
}

/** Sessions, throughput, failures and pace of a pass. The server reads every attempt for it. */
export function usePassReport(id: string) {
  return useQuery({
    queryKey: keys.passReport(id),
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/passes/{jobId}/report", { params: { path: { jobId: id } }, signal })),
  });
}

/** Begins the first pass over a source. If it has a mirror, the next pass begins. */
export function useMirrorSource() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: SourcePassRequest) => dataOf(api.POST("/api/mirrors", { body })),
    onSuccess: ({ jobId }) => refreshPass(queries, jobId),
  });
}

/** Begins the next pass over a mirror, or resumes the unfinished one. */
export function useBeginPass(mirrorId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: NextPassRequest) =>
      dataOf(api.POST("/api/mirrors/{mirrorId}/passes", { params: { path: { mirrorId } }, body })),
    onSuccess: ({ jobId }) => refreshPass(queries, jobId),
  });
}

function refreshPass(queries: QueryClient, jobId: string) {
  return Promise.all([
    queries.invalidateQueries({ queryKey: keys.mirrors }),
    queries.invalidateQueries({ queryKey: keys.job(jobId) }),
    queries.invalidateQueries({ queryKey: keys.jobs }),
  ]);
}

/** Removes a mirror with its rows and history. The server works in bounded steps. */
export function useForgetMirror() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (mirrorId: string) => {
      let removed = 0;
      for (;;) {
        const step = await dataOf(
          api.DELETE("/api/mirrors/{mirrorId}", { params: { path: { mirrorId } } }),
        );
        removed += step.removed;
        if (step.done) return removed;
      }
    },
    onSuccess: (_, mirrorId) => {
      queries.removeQueries({ queryKey: keys.mirror(mirrorId) });
      return queries.invalidateQueries({ queryKey: keys.mirrors });
    },
  });
}
