import { asProblem, type Gate, useChangeGate } from "../../api";
import { Confirm, counted, useToasts } from "../../design";

/** Asks before what was learned of a gate is dropped. */
export function ForgetGate({ gate, onClose }: { gate: Gate; onClose: () => void }) {
  const change = useChangeGate();
  const toasts = useToasts();
  const replies = counted(gate.replies, "answer");
  return (
    <Confirm
      danger
      title={`Forget what ${replies} taught?`}
      action={`Forget ${replies}`}
      busy={change.isPending}
      problem={change.error ? asProblem(change.error).detail : undefined}
      onClose={onClose}
      onConfirm={() =>
        change.mutate(
          { name: gate.key, body: { forget: true } },
          {
            onSuccess: () => {
              toasts.say(`${gate.name} is learned anew.`);
              onClose();
            },
          },
        )
      }
    >
      <p>
        The limit of {gate.name} is looked for from the beginning, with a few refusals on the way. A
        rate or pause that was set goes as well. Do this when the provider has changed its limit.
      </p>
    </Confirm>
  );
}
