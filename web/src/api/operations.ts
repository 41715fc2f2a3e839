import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, dataOf } from "./client";
import { keys } from "./queries";
import type { GateChange, Health } from "./types";

export type GateFilter = "used" | "declared" | "all";

/** Gates with their learned limits; live messages update them (admins only). */
export function useGates(which: GateFilter = "used") {
  return useQuery({
    queryKey: [...keys.providers, which],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/providers", { params: { query: { which } }, signal })),
  });
}

/** Sets a rate, pauses, returns to the learned rate, or forgets what was learned. */
export function useChangeGate() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ name, body }: { name: string; body: GateChange }) =>
      dataOf(api.PATCH("/api/providers/{name}", { params: { path: { name } }, body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.providers }),
  });
}

/** Worker processes, newest first (admins only). */
export function useWorkers({ all = false, everyMs = 0 } = {}) {
  return useQuery({
    queryKey: [...keys.workers, { all }],
    queryFn: async ({ signal }) =>
      (await dataOf(api.GET("/api/workers", { params: { query: { all } }, signal }))).items,
    refetchInterval: everyMs || false,
  });
}

/** Lets a worker finish its items, take no more, and exit. */
export function useDrain() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (workerId: string) =>
      dataOf(api.POST("/api/workers/{workerId}/drain", { params: { path: { workerId } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.workers }),
  });
}

/** Handlers that a job can use. */
export function useHandlers() {
  return useQuery({
    queryKey: keys.handlers,
    queryFn: async ({ signal }) => (await dataOf(api.GET("/api/handlers", { signal }))).items,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The database, its sweeper and the queue (admins only). */
export function useSystem({ everyMs = 0 } = {}) {
  return useQuery({
    queryKey: keys.system,
    queryFn: ({ signal }) => dataOf(api.GET("/api/system", { signal })),
    refetchInterval: everyMs || false,
  });
}

/** The health of the service. A response of 503 names the problem and is not an error here. */
export function useHealth({ everyMs = 0 } = {}) {
  return useQuery({
    queryKey: keys.health,
    queryFn: async ({ signal }) => (await (await fetch("/healthz", { signal })).json()) as Health,
    refetchInterval: everyMs || false,
  });
}
