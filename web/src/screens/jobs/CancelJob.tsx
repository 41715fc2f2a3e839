import { asProblem, type Job, useMoveJob } from "../../api";
import { Confirm, grouped, useToasts } from "../../design";

export function CancelJob({ job, onClose }: { job: Job; onClose: () => void }) {
  const move = useMoveJob();
  const toasts = useToasts();
  const open = job.counts.pending + job.counts.processing;
  return (
    <Confirm
      danger
      title={`Cancel ${grouped(open)} open items?`}
      action={`Cancel ${grouped(open)} items`}
      cancel="Keep running"
      busy={move.isPending}
      problem={move.error ? asProblem(move.error).detail : undefined}
      onClose={onClose}
      onConfirm={() =>
        move.mutate(
          { id: job.id, move: "cancel" },
          {
            onSuccess: () => {
              toasts.success(`${job.name} was cancelled. Finished items stay.`);
              onClose();
            },
          },
        )
      }
    >
      <p>
        “{job.name}” stops now. {grouped(job.counts.total - open)} finished items stay as they are.
        You can run the cancelled ones again later.
      </p>
    </Confirm>
  );
}
