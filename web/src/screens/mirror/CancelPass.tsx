import { asProblem, type Job, useMoveJob } from "../../api";
import { Confirm, counted, useToasts } from "../../design";

/** Asks before a pass is cancelled: it cannot be continued afterwards. */
export function CancelPass({ job, onClose }: { job: Job; onClose: () => void }) {
  const move = useMoveJob();
  const toasts = useToasts();
  const open = job.counts.pending + job.counts.processing;
  return (
    <Confirm
      danger
      title={`Cancel pass ${job.id}?`}
      action={`Cancel ${counted(open, "page")}`}
      cancel="Keep running"
      busy={move.isPending}
      problem={move.error ? asProblem(move.error).detail : undefined}
      onClose={onClose}
      onConfirm={() =>
        move.mutate(
          { id: job.id, move: "cancel" },
          {
            onSuccess: () => {
              toasts.success(`Pass ${job.id} was cancelled. Its rows stay.`);
              onClose();
            },
          },
        )
      }
    >
      <p>
        Rows that this pass stored stay in the mirror. Streams that are not complete delete nothing.
        The next pass begins from the start; to continue later, pause this one instead.
      </p>
    </Confirm>
  );
}
