import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, dataOf, query } from "./client";
import { keys } from "./keys";
import { useKeyset } from "./keyset";
import type { Job, JobFromSource, ReprocessRequest } from "./types";

export interface JobFilter {
  /** Job states with commas in between. */
  states?: string | undefined;
  handler?: string | undefined;
  q?: string | undefined;
}

/** Jobs, newest first, as far as they are scrolled to. */
export function useJobs(filter: JobFilter, start?: string) {
  return useKeyset({
    queryKey: keys.jobList(filter),
    start,
    pageSize: 100,
    fetchPage: ({ after, pageSize, signal }) =>
      dataOf(
        api.GET("/api/jobs", { params: { query: query({ ...filter, pageSize, after }) }, signal }),
      ),
  });
}

export function jobQuery(id: string) {
  return queryOptions({
    queryKey: keys.job(id),
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/jobs/{jobId}", { params: { path: { jobId: id } }, signal })),
  });
}

/** A job with its counters, rate and estimate; live messages keep it current. */
export function useJob(id: string) {
  return useQuery(jobQuery(id));
}

export type JobMove = "pause" | "resume" | "cancel";

/** Pauses, resumes or cancels a job. */
export function useMoveJob() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id, move }: { id: string; move: JobMove }) =>
      dataOf(api.POST(`/api/jobs/{jobId}/${move}`, { params: { path: { jobId: id } } })),
    onSuccess: (job) => {
      queries.setQueryData<Job>(keys.job(job.id), (old) => old && { ...old, ...job });
      return refreshJob(queries, job.id);
    },
  });
}

const SLICE_MS = 5_000;

/** Has a worker process work on a job for a while at once; answers with what came of it. */
export function useKickoff() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      dataOf(
        api.POST("/api/jobs/{jobId}/kickoff", {
          params: { path: { jobId: id }, query: { durationMs: SLICE_MS } },
        }),
      ),
    onSuccess: (_, id) => refreshJob(queries, id),
  });
}

/** Changes a job's share among its owner's jobs. */
export function usePrioritise() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id, priority }: { id: string; priority: number }) =>
      dataOf(
        api.POST("/api/jobs/{jobId}/priority", {
          params: { path: { jobId: id } },
          body: { priority },
        }),
      ),
    onSuccess: (job) => refreshJob(queries, job.id),
  });
}

/** Deletes a job with all that belongs to it. */
export function useDeleteJob() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      dataOf(api.DELETE("/api/jobs/{jobId}", { params: { path: { jobId: id } } })),
    onSuccess: (_, id) => {
      queries.removeQueries({ queryKey: keys.job(id) });
      return queries.invalidateQueries({ queryKey: keys.jobs });
    },
  });
}

/** How many items a reprocess would bring back: the server counts, nothing changes. */
export async function countReprocess(id: string, body: ReprocessRequest): Promise<number> {
  return (await askReprocess(id, { ...body, dryRun: true })).count;
}

/** Brings finished items back; answers with how many. */
export function useReprocess() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id, body }: { id: string; body: ReprocessRequest }) => askReprocess(id, body),
    onSuccess: (_, { id }) => refreshJob(queries, id),
  });
}

function askReprocess(id: string, body: ReprocessRequest) {
  return dataOf(api.POST("/api/jobs/{jobId}/reprocess", { params: { path: { jobId: id } }, body }));
}

/** Makes a job over a source elsewhere; the same with the same `once` makes one job. */
export async function createFromSource(body: JobFromSource, once: string): Promise<string> {
  const params = { header: { "Idempotency-Key": once } };
  return (await dataOf(api.POST("/api/jobs", { params, body }))).jobId;
}

/** Makes a job over a source elsewhere, or over items in the request; answers with its id. */
export function useCreateJob() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (body: JobFromSource) =>
      (await dataOf(api.POST("/api/jobs", { body }))).jobId,
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.jobs }),
  });
}

function refreshJob(queries: ReturnType<typeof useQueryClient>, id: string) {
  return Promise.all([
    queries.invalidateQueries({ queryKey: keys.job(id) }),
    queries.invalidateQueries({ queryKey: keys.jobs }),
  ]);
}
