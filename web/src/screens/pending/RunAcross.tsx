import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { asProblem, countReplay, countReprocess, keys, useReplay, useReprocess } from "../../api";
import { Checkbox, Confirm, grouped, useToasts } from "../../design";
import type { Ask } from "./plan";

/** Asks before items of several jobs run again; the server says how many that are. */
export function RunAcross({
  asks,
  onClose,
  onDone,
}: {
  asks: readonly Ask[];
  onClose: () => void;
  onDone: () => void;
}) {
  const [resetAttempts, setReset] = useState(false);
  const count = useQuery({
    queryKey: ["run-across", asks, resetAttempts],
    queryFn: () => sum(asks, (ask) => countOf(ask, resetAttempts)),
    staleTime: 0,
    gcTime: 0,
  });
  const queries = useQueryClient();
  const toasts = useToasts();
  const runOne = useRunOne();
  const run = useMutation({
    mutationFn: () => sum(asks, (ask) => runOne(ask, resetAttempts)),
    onSettled: () => queries.invalidateQueries({ queryKey: keys.pending }),
    onSuccess: (done) => {
      toasts.say(`${items(done)} run again.`);
      onDone();
      onClose();
    },
  });
  const many = count.data;
  const problem = run.error ?? count.error;
  return (
    <Confirm
      title={many === undefined ? "Counting…" : `Run ${items(many)} again?`}
      action={many === undefined ? "Run again" : `Run ${grouped(many)} again`}
      disabled={!many}
      busy={run.isPending}
      problem={problem ? asProblem(problem).detail : undefined}
      onClose={onClose}
      onConfirm={() => run.mutate()}
    >
      <p>
        {asks.length > 1 ? `They belong to ${grouped(asks.length)} jobs. ` : ""}
        Results that they have now are replaced.
      </p>
      <Checkbox
        label="Count attempts from zero"
        hint="Also brings back items that were tried as often as is allowed."
        checked={resetAttempts}
        onChange={() => setReset(!resetAttempts)}
      />
    </Confirm>
  );
}

function countOf(ask: Ask, resetAttempts: boolean): Promise<number> {
  return "replay" in ask
    ? countReplay({ ...ask.replay, resetAttempts })
    : countReprocess(ask.jobId, { ...ask.body, resetAttempts });
}

function useRunOne() {
  const reprocess = useReprocess();
  const replay = useReplay();
  return async (ask: Ask, resetAttempts: boolean): Promise<number> => {
    const done =
      "replay" in ask
        ? await replay.mutateAsync({ ...ask.replay, resetAttempts })
        : await reprocess.mutateAsync({ id: ask.jobId, body: { ...ask.body, resetAttempts } });
    return done.count;
  };
}

/** One after the other: each is work for the server. */
async function sum(asks: readonly Ask[], count: (ask: Ask) => Promise<number>): Promise<number> {
  let total = 0;
  for (const ask of asks) total += await count(ask);
  return total;
}

function items(many: number): string {
  return many === 1 ? "1 item" : `${grouped(many)} items`;
}
