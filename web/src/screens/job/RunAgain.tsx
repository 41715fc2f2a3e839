import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { asProblem, countReprocess, keys, type ReprocessAsked, useReprocess } from "../../api";
import { Checkbox, Confirm, grouped, useToasts } from "../../design";

/** Asks before items run again; the server says how many that are. */
export function RunAgain({
  jobId,
  asked,
  about,
  chosen,
  onClose,
  onDone,
}: {
  jobId: string;
  asked: ReprocessAsked;
  /** Which items, in a sentence. */
  about: string;
  /** How many were chosen, where that is known: not all of them may be able to run. */
  chosen?: number | undefined;
  onClose: () => void;
  onDone?: () => void;
}) {
  const [resetAttempts, setReset] = useState(false);
  const body = { ...asked, resetAttempts };
  const count = useQuery({
    queryKey: [...keys.job(jobId), "reprocess", body],
    queryFn: () => countReprocess(jobId, body),
    staleTime: 0,
  });
  const reprocess = useReprocess();
  const toasts = useToasts();
  const many = count.data;
  const problem = reprocess.error ?? count.error;
  return (
    <Confirm
      title={many === undefined ? "Counting…" : `Run ${items(many)} again?`}
      action={many === undefined ? "Run again" : `Run ${grouped(many)} again`}
      disabled={!many}
      busy={reprocess.isPending}
      problem={problem ? asProblem(problem).detail : undefined}
      onClose={onClose}
      onConfirm={() =>
        reprocess.mutate(
          { id: jobId, body },
          {
            onSuccess: ({ count: done }) => {
              toasts.say(`${items(done)} run again.`);
              onDone?.();
              onClose();
            },
          },
        )
      }
    >
      <p>{about} Results that they have now are replaced.</p>
      {chosen !== undefined && many !== undefined && many < chosen && (
        <p>
          {grouped(chosen - many)} of the {grouped(chosen)} that you chose stay as they are: they
          are not finished, were tried as often as is allowed, or their row could not be read.
        </p>
      )}
      {asked.scope !== "items" && (
        <Checkbox
          label="Count attempts from zero"
          hint="Also brings back items that were tried as often as is allowed."
          checked={resetAttempts}
          onChange={() => setReset(!resetAttempts)}
        />
      )}
    </Confirm>
  );
}

function items(many: number): string {
  return many === 1 ? "1 item" : `${grouped(many)} items`;
}
