import { type ReactNode, useState } from "react";
import { asProblem } from "../../api";
import { Checkbox, Confirm, counted, grouped, useToasts } from "../../design";
import { type ReprocessCall, useCount, useRun } from "./model";

/** Asks before items run again; the server counts them. */
export function RunAgain({
  calls,
  noun = "item",
  chosen,
  children,
  onClose,
  onDone,
}: {
  calls: readonly ReprocessCall[];
  noun?: "item" | "dead letter" | "page";
  /** Number of selected items, if known. Not all of them may be able to run. */
  chosen?: number | undefined;
  children?: ReactNode;
  onClose: () => void;
  onDone?: (() => void) | undefined;
}) {
  const [resetAttempts, setReset] = useState(false);
  const count = useCount(calls, resetAttempts);
  const run = useRun(calls, resetAttempts);
  const toasts = useToasts();
  const many = count.data;
  const problem = run.error ?? count.error;
  const confirm = () =>
    run.mutate(undefined, {
      onSuccess: (done) => {
        toasts.success(`${counted(done, noun)} queued to run again.`);
        onDone?.();
        onClose();
      },
    });
  return (
    <Confirm
      title={many === undefined ? "Counting…" : `Run ${counted(many, noun)} again?`}
      action={many === undefined ? "Run again" : `Run ${grouped(many)} again`}
      disabled={!many}
      busy={run.isPending}
      problem={problem ? asProblem(problem).detail : undefined}
      onClose={onClose}
      onConfirm={confirm}
    >
      {children}
      <p>They go back to Pending. Current results will be overwritten.</p>
      <NotRun chosen={chosen} many={many} />
      <Checkbox
        label="Reset attempt count"
        hint="Also retries items that hit the attempt limit. Their history stays."
        checked={resetAttempts}
        onChange={() => setReset(!resetAttempts)}
      />
    </Confirm>
  );
}

/** Why fewer items run than were selected. */
function NotRun({ chosen, many }: { chosen: number | undefined; many: number | undefined }) {
  if (chosen === undefined || many === undefined || many >= chosen) return null;
  return (
    <p>
      {grouped(chosen - many)} of the {grouped(chosen)} selected items stay as they are: they are
      not finished, hit the attempt limit, or have an unreadable row.
    </p>
  );
}
