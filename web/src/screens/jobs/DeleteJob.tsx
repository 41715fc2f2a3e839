import { asProblem, type Job, useDeleteJob } from "../../api";
import { Confirm, grouped, useToasts } from "../../design";

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
