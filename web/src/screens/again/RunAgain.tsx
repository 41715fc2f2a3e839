import { type ReactNode, useState } from "react";
import { asProblem } from "../../api";
import { Checkbox, Confirm, counted, grouped, useToasts } from "../../design";
import { type Ask, useCount, useRun } from "./ask";

/** Asks before items run again; the server says how many that are. */
export function RunAgain({
  asks,
  noun = "item",
  chosen,
  children,
  onClose,
  onDone,
}: {
  asks: readonly Ask[];
  noun?: "item" | "dead letter";
  /** How many were chosen, where that is known: not all of them may be able to run. */
  chosen?: number | undefined;
  /** Which ones, in a sentence or in fields. */
  children?: ReactNode;
  onClose: () => void;
  onDone?: (() => void) | undefined;
}) {
  const [resetAttempts, setReset] = useState(false);
  const count = useCount(asks, resetAttempts);
  const run = useRun(asks, resetAttempts);
  const toasts = useToasts();
  const many = count.data;
  const problem = run.error ?? count.error;
  const confirm = () =>
    run.mutate(undefined, {
      onSuccess: (done) => {
        toasts.say(`${counted(done, noun)} run again.`);
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
      <p>They become pending, and results that they have now are replaced.</p>
      <Left chosen={chosen} many={many} />
      <Checkbox
        label="Count attempts from zero"
        hint="Also brings back items that were tried as often as is allowed. Their history stays."
        checked={resetAttempts}
        onChange={() => setReset(!resetAttempts)}
      />
    </Confirm>
  );
}

/** Why fewer run than were chosen. */
function Left({ chosen, many }: { chosen: number | undefined; many: number | undefined }) {
  if (chosen === undefined || many === undefined || many >= chosen) return null;
  return (
    <p>
      {grouped(chosen - many)} of the {grouped(chosen)} that you chose stay as they are: they are
      not finished, were tried as often as is allowed, or their row could not be read.
    </p>
  );
}
