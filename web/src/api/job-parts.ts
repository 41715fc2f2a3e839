import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, dataOf, query } from "./client";
import type { WRITTEN_FORMATS } from "./formats";
import { useKeyset } from "./keyset";
import { keys } from "./queries";
import type { Export } from "./types";

/** Failures of a job, grouped by message; largest group first. */
export function useErrors(jobId: string) {
  return useQuery({
    queryKey: keys.errors(jobId),
    queryFn: async ({ signal }) =>
      (await dataOf(api.GET("/api/jobs/{jobId}/errors", { params: { path: { jobId } }, signal })))
        .items,
  });
}

/** The gates that a job's requests pass; live messages update them. */
export function useJobGates(jobId: string) {
  return useQuery({
    queryKey: keys.gates(jobId),
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/jobs/{jobId}/gates", { params: { path: { jobId } }, signal })),
  });
}

/** Readings of a job from before the page was opened, as far as the server has them. */
export function useHistory(jobId: string) {
  return useQuery({
    queryKey: keys.history(jobId),
    queryFn: async ({ signal }) =>
      (await dataOf(api.GET("/api/jobs/{jobId}/history", { params: { path: { jobId } }, signal })))
        .items,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

/** Events of a job, newest first; without a job, all events that the user may see. */
export function useLog(jobId?: string, start?: string) {
  return useKeyset({
    queryKey: jobId === undefined ? keys.allEvents : keys.log(jobId),
    start,
    fetchPage: ({ after, pageSize, signal }) =>
      dataOf(
        api.GET("/api/events/log", {
          params: { query: query({ jobId, pageSize, after }) },
          signal,
        }),
      ),
  });
}

const POLL_MS = 1_000;

/** Exports of a job, newest first; polled only while one is in progress. */
export function useExports(jobId: string) {
  return useQuery({
    queryKey: keys.exports(jobId),
    queryFn: async ({ signal }) =>
      (await dataOf(api.GET("/api/jobs/{jobId}/exports", { params: { path: { jobId } }, signal })))
        .items,
    refetchInterval: ({ state }) => (state.data?.some(isInProgress) ? POLL_MS : false),
  });
}

/** True while the file of an export is not finished. */
export function isInProgress(each: Export): boolean {
  return each.state === "QUEUED" || each.state === "RUNNING";
}

export type ExportFormat = keyof typeof WRITTEN_FORMATS;

/** Requests a file of all rows; the server writes it in the background. */
export function useRequestExport() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ jobId, ...asked }: ExportRequest) =>
      dataOf(api.POST("/api/jobs/{jobId}/export", { params: { path: { jobId }, query: asked } })),
    onSuccess: (made) => queries.invalidateQueries({ queryKey: keys.exports(made.jobId) }),
  });
}

export interface ExportRequest {
  jobId: string;
  format: ExportFormat;
  formulas?: "neutral" | "raw";
}
