import { asProblem, type Gate, useChangeGate } from "../../api";
import { Confirm, counted, useToasts } from "../../design";

/** Asks before the learned limit of a gate is dropped. */
export function ForgetGate({ gate, onClose }: { gate: Gate; onClose: () => void }) {
  const change = useChangeGate();
  const toasts = useToasts();
  const replies = counted(gate.replies, "answer");
  return (
    <Confirm
      danger
      title={`Forget what was learned from ${replies}?`}
      action={`Forget ${replies}`}
      busy={change.isPending}
      problem={change.error ? asProblem(change.error).detail : undefined}
      onClose={onClose}
      onConfirm={() =>
        change.mutate(
          { name: gate.key, body: { forget: true } },
          {
            onSuccess: () => {
              toasts.success(`${gate.name} starts learning again.`);
              onClose();
            },
          },
        )
      }
    >
      <p>
        Headgate searches for the limit of {gate.name} again, and gets throttled a few times. A
        manual rate or pause is removed as well. Do this when the provider has changed its limit.
      </p>
    </Confirm>
  );
}
