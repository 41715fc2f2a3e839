import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, dataOf, query } from "./client";
import { useKeyset } from "./keyset";
import { keys } from "./queries";
import type { Job, JobFromSource, ReprocessRequest } from "./types";

export interface JobFilter {
  states?: string | undefined;
  handler?: string | undefined;
  q?: string | undefined;
}

/** Jobs, newest first; pages load on scrolling. */
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

/** A job with its counters, rate and time left; live messages update it. */
export function useJob(id: string) {
  return useQuery(jobQuery(id));
}

export type JobMove = "pause" | "resume" | "cancel";

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

/** Runs a worker process on a job for a short time; returns what was done. */
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

/** Changes the priority of a job among its owner's jobs. */
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

/** Counts the items of a reprocess on the server, without changing anything. */
export async function countReprocess(id: string, body: ReprocessRequest): Promise<number> {
  return (await askReprocess(id, { ...body, dryRun: true })).count;
}

/** Moves finished items back to PENDING; returns their number. */
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

/**
 * Creates a job over a remote source. Repeating it with the same `once` does not create a second
 * job.
 */
export async function createFromSource(body: JobFromSource, once: string): Promise<string> {
  const params = { header: { "Idempotency-Key": once } };
  return (await dataOf(api.POST("/api/jobs", { params, body }))).jobId;
}

/** Creates a job over a remote source or over items in the request; returns its id. */
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
    // The job may be a pass over a mirror.
    queries.invalidateQueries({ queryKey: keys.mirrors }),
  ]);
}
