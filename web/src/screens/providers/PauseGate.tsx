import { useState } from "react";
import { asProblem, type Gate, useChangeGate } from "../../api";
import { Confirm, Select, useToasts } from "../../design";
import { TERMS, termOf, USUAL_TERM } from "./terms";

/** Asks before nothing more is sent through a gate, and for how long. */
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
              toasts.say(`${gate.name} is paused.`);
              onClose();
            },
          },
        )
      }
    >
      <p>
        No new request goes out. What is in flight finishes; items wait and are not counted as
        failed.
      </p>
      <Select label="How long" options={TERMS} value={term} onChoose={setTerm} />
    </Confirm>
  );
}
