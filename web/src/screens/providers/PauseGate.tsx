import { useState } from "react";
import { asProblem, type Gate, useChangeGate } from "../../api";
import { Confirm, Select, useToasts } from "../../design";
import { TERMS, termOf, USUAL_TERM } from "./durations";

/** Asks before a gate is paused, and for how long. */
export function PauseGate({ gate, onClose }: { gate: Gate; onClose: () => void }) {
  const [term, setTerm] = useState(USUAL_TERM);
  const change = useChangeGate();
  const toasts = useToasts();
  return (
    <Confirm
      title={`Pause ${gate.name}?`}
      action={`Pause ${gate.name}`}
      busy={change.isPending}
      problem={change.error ? asProblem(change.error).detail : undefined}
      onClose={onClose}
      onConfirm={() =>
        change.mutate(
          { name: gate.key, body: { paused: true, ...termOf(term) } },
          {
            onSuccess: () => {
              toasts.success(`${gate.name} was paused.`);
              onClose();
            },
          },
        )
      }
    >
      <p>
        No new requests are sent. Requests in flight finish. Items wait and do not count as failed.
      </p>
      <Select label="Duration" options={TERMS} value={term} onChoose={setTerm} />
    </Confirm>
  );
}
