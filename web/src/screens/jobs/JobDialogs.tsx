import { asProblem, type Job, useDeleteJob, useMoveJob } from "../../api";
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

export function DeleteJob({
  job,
  onClose,
  onDeleted,
}: {
  job: Job;
  onClose: () => void;
  onDeleted?: () => void;
}) {
  const remove = useDeleteJob();
  const toasts = useToasts();
  const total = grouped(job.counts.total);
  return (
    <Confirm
      danger
      title={`Delete the job and its ${total} items?`}
      action={`Delete ${total} items`}
      busy={remove.isPending}
      problem={remove.error ? asProblem(remove.error).detail : undefined}
      onClose={onClose}
      onConfirm={() =>
        remove.mutate(job.id, {
          onSuccess: () => {
            toasts.success(`${job.name} was deleted.`);
            onClose();
            onDeleted?.();
          },
        })
      }
    >
      <p>
        “{job.name}” and its results, history and exports will be deleted. This can’t be undone.
      </p>
    </Confirm>
  );
}
