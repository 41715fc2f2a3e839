import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import {
  countReplay,
  countReprocess,
  keys,
  type ReplayAsked,
  type ReprocessAsked,
  useReplay,
  useReprocess,
} from "../../api";

/** One request to the server: items of a job, or dead letters of any. */
export type Ask = { jobId: string; body: ReprocessAsked } | { replay: ReplayAsked };

/** How many items all of these would bring back: the server counts, nothing changes. */
export function useCount(asks: readonly Ask[], resetAttempts: boolean) {
  return useQuery({
    queryKey: ["again", asks, resetAttempts],
    queryFn: () =>
      sum(asks, (ask) =>
        "replay" in ask
          ? countReplay({ ...ask.replay, resetAttempts })
          : countReprocess(ask.jobId, { ...ask.body, resetAttempts }),
      ),
    staleTime: 0,
    gcTime: 0,
  });
}

/** Brings the items back; answers with how many. */
export function useRun(asks: readonly Ask[], resetAttempts: boolean) {
  const queries = useQueryClient();
  const reprocess = useReprocess();
  const replay = useReplay();
  const run = async (ask: Ask) => {
    const done =
      "replay" in ask
        ? await replay.mutateAsync({ ...ask.replay, resetAttempts })
        : await reprocess.mutateAsync({ id: ask.jobId, body: { ...ask.body, resetAttempts } });
    return done.count;
  };
  return useMutation({
    mutationFn: () => sum(asks, run),
    onSettled: () => queries.invalidateQueries({ queryKey: keys.pending }),
  });
}

/** One after the other: each is work for the server. */
async function sum(asks: readonly Ask[], count: (ask: Ask) => Promise<number>): Promise<number> {
  let total = 0;
  for (const ask of asks) total += await count(ask);
  return total;
}
