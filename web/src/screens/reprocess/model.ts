import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import {
  type AcrossRequest,
  countAcross,
  countReplay,
  countReprocess,
  ITEM_STATUSES,
  type ItemFilter,
  keys,
  mayMoveItem,
  type ReplayRequest,
  type ReprocessRequest,
  useReplay,
  useReprocess,
  useReprocessAcross,
} from "../../api";
import type { Selection } from "../../design";

type Status = NonNullable<ReprocessRequest["statuses"]>[number];

/** Statuses from which an item can run again. */
const FINISHED = ITEM_STATUSES.filter((status) => mayMoveItem(status, "requeue")) as Status[];

/**
 * The request for the selected rows; null if none of them can run again. Rows that are not finished
 * are left out, also if everything is selected.
 */
export function requestFor(
  selection: Pick<Selection, "everything" | "ids">,
  filter: ItemFilter,
): ReprocessRequest | null {
  const ids = [...selection.ids];
  if (!selection.everything) return ids.length ? requestForItems(ids) : null;
  const statuses = finishedIn(filter.statuses);
  if (statuses.length === 0) return null;
  return { ...matching(filter), statuses, exceptIds: ids };
}

/** The request for some items by id. */
export function requestForItems(itemIds: string[]): ReprocessRequest {
  return { scope: "items", itemIds };
}

/** The request for all failures of a group. */
export function requestForGroup(group: {
  errorClass: string;
  signature: string;
}): ReprocessRequest {
  return { ...matching(group), statuses: ["ERROR"] };
}

function matching({ errorClass, q, signature }: ItemFilter): ReprocessRequest {
  const filter = { ...(q ? { q } : {}), ...(signature ? { signature } : {}) };
  return {
    scope: "job",
    ...(errorClass ? { errorClass } : {}),
    ...(Object.keys(filter).length ? { filter } : {}),
  };
}

/** The finished statuses of a filter; all finished statuses if it names none. */
function finishedIn(statuses: string | undefined): Status[] {
  if (!statuses) return FINISHED;
  const wanted = statuses.split(",");
  return FINISHED.filter((status) => wanted.includes(status));
}

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
