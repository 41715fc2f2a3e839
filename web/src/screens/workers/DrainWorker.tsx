import { asProblem, useDrain, type Worker } from "../../api";
import { Confirm, counted, useToasts } from "../../design";

/** Asks before a worker is sent home. */
export function DrainWorker({
  worker,
  isLast,
  onClose,
}: {
  worker: Worker;
  /** Nobody would be left to work. */
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
      action="Drain this worker"
      busy={drain.isPending}
      problem={drain.error ? asProblem(drain.error).detail : undefined}
      onClose={onClose}
      onConfirm={() =>
        drain.mutate(worker.id, {
          onSuccess: () => {
            toasts.say(`Process ${worker.pid} on ${worker.host} finishes what it runs, then ends.`);
            onClose();
          },
        })
      }
    >
      <p>
        Process {worker.pid} on {worker.host} finishes what runs, gives the rest back, takes nothing
        more, and ends. Nobody takes its place until its supervisor is started anew.
      </p>
      {isLast && <p>It is the last one: after that, items wait until a worker is started.</p>}
    </Confirm>
  );
}
