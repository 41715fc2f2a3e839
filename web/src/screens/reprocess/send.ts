import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import {
  type AcrossRequest,
  countAcross,
  countReplay,
  countReprocess,
  keys,
  type ReplayRequest,
  type ReprocessRequest,
  useReplay,
  useReprocess,
  useReprocessAcross,
} from "../../api";

/** One request: items of a job, dead letters, or all that match across jobs. */
export type ReprocessCall =
  | { jobId: string; body: ReprocessRequest }
  | { replay: ReplayRequest }
  | { across: AcrossRequest };

/** Counts the items of all calls on the server, without changing anything. */
export function useCount(calls: readonly ReprocessCall[], resetAttempts: boolean) {
  return useQuery({
    queryKey: ["again", calls, resetAttempts],
    queryFn: () => sum(calls, (call) => countOne(call, resetAttempts)),
    staleTime: 0,
    gcTime: 0,
  });
}

function countOne(call: ReprocessCall, resetAttempts: boolean): Promise<number> {
  if ("replay" in call) return countReplay({ ...call.replay, resetAttempts });
  if ("across" in call) return countAcross({ ...call.across, resetAttempts });
  return countReprocess(call.jobId, { ...call.body, resetAttempts });
}

/** Moves the items back to PENDING; returns their number. */
export function useRun(calls: readonly ReprocessCall[], resetAttempts: boolean) {
  const queries = useQueryClient();
  const { mutateAsync: replay } = useReplay();
  const { mutateAsync: across } = useReprocessAcross();
  const { mutateAsync: reprocess } = useReprocess();
  const run = (call: ReprocessCall): Promise<{ count: number }> => {
    if ("replay" in call) return replay({ ...call.replay, resetAttempts });
    if ("across" in call) return across({ ...call.across, resetAttempts });
    return reprocess({ id: call.jobId, body: { ...call.body, resetAttempts } });
  };
  return useMutation({
    mutationFn: () => sum(calls, async (call) => (await run(call)).count),
    onSettled: () => queries.invalidateQueries({ queryKey: keys.pending }),
  });
}

/** Sequential, to limit the load on the server. */
async function sum(
  calls: readonly ReprocessCall[],
  count: (call: ReprocessCall) => Promise<number>,
): Promise<number> {
  let total = 0;
  for (const call of calls) total += await count(call);
  return total;
}
