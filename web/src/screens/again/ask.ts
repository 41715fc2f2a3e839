import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import {
  type AcrossAsked,
  countAcross,
  countReplay,
  countReprocess,
  keys,
  type ReplayAsked,
  type ReprocessAsked,
  useReplay,
  useReprocess,
  useReprocessAcross,
} from "../../api";

/** One request to the server: items of a job, dead letters, or all that match across jobs. */
export type Ask =
  | { jobId: string; body: ReprocessAsked }
  | { replay: ReplayAsked }
  | { across: AcrossAsked };

/** How many items all of these would bring back: the server counts, nothing changes. */
export function useCount(asks: readonly Ask[], resetAttempts: boolean) {
  return useQuery({
    queryKey: ["again", asks, resetAttempts],
    queryFn: () => sum(asks, (ask) => countOne(ask, resetAttempts)),
    staleTime: 0,
    gcTime: 0,
  });
}

function countOne(ask: Ask, resetAttempts: boolean): Promise<number> {
  if ("replay" in ask) return countReplay({ ...ask.replay, resetAttempts });
  if ("across" in ask) return countAcross({ ...ask.across, resetAttempts });
  return countReprocess(ask.jobId, { ...ask.body, resetAttempts });
}

/** Brings the items back; answers with how many. */
export function useRun(asks: readonly Ask[], resetAttempts: boolean) {
  const queries = useQueryClient();
  const { mutateAsync: replay } = useReplay();
  const { mutateAsync: across } = useReprocessAcross();
  const { mutateAsync: reprocess } = useReprocess();
  const run = (ask: Ask): Promise<{ count: number }> => {
    if ("replay" in ask) return replay({ ...ask.replay, resetAttempts });
    if ("across" in ask) return across({ ...ask.across, resetAttempts });
    return reprocess({ id: ask.jobId, body: { ...ask.body, resetAttempts } });
  };
  return useMutation({
    mutationFn: () => sum(asks, async (ask) => (await run(ask)).count),
    onSettled: () => queries.invalidateQueries({ queryKey: keys.pending }),
  });
}

/** One after the other: each is work for the server. */
async function sum(asks: readonly Ask[], count: (ask: Ask) => Promise<number>): Promise<number> {
  let total = 0;
  for (const ask of asks) total += await count(ask);
  return total;
}
