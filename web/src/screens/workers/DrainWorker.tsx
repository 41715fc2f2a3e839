import { asProblem, useDrain, type Worker } from "../../api";
import { Confirm, counted, useToasts } from "../../design";

/** Asks before a worker is drained. */
export function DrainWorker({
  worker,
  isLast,
  onClose,
}: {
  worker: Worker;
  /** True if no worker would be left. */
  isLast: boolean;
  onClose: () => void;
}) {
  const drain = useDrain();
  const toasts = useToasts();
  const held = counted(worker.running, "item");
  return (
    <Confirm
      danger={isLast}
      title={`Drain the worker that holds ${held}?`}
      action="Drain worker"
      busy={drain.isPending}
      problem={drain.error ? asProblem(drain.error).detail : undefined}
      onClose={onClose}
      onConfirm={() =>
        drain.mutate(worker.id, {
          onSuccess: () => {
            toasts.success(
              `Process ${worker.pid} on ${worker.host} finishes its items, then exits.`,
            );
            onClose();
          },
        })
      }
    >
      <p>
        Process {worker.pid} on {worker.host} finishes its running items, returns the others, and
        exits. It is not replaced until its supervisor is restarted.
      </p>
      {isLast && <p>This is the last worker. Items will wait until you start another one.</p>}
    </Confirm>
  );
}
