import { useState } from "react";
import { asProblem, type Gate, useChangeGate } from "../../api";
import { Confirm, Field, perSecond, Select, useToasts } from "../../design";
import { TERMS, termOf, USUAL_TERM } from "./durations";

/** Asks for a rate that replaces the learned one, and for how long. */
export function SetRate({ gate, onClose }: { gate: Gate; onClose: () => void }) {
  const [rate, setRate] = useState("");
  const [term, setTerm] = useState(USUAL_TERM);
  const change = useChangeGate();
  const toasts = useToasts();
  const learned = gate.learnedPerS ?? gate.nowPerS;
  return (
    <Confirm
      title={`Set a rate for ${gate.name}`}
      action={rate.trim() ? `Send at most ${rate.trim()}` : "Set rate"}
      disabled={!rate.trim()}
      busy={change.isPending}
      problem={change.error ? asProblem(change.error).detail : undefined}
      onClose={onClose}
      onConfirm={() =>
        change.mutate(
          { name: gate.key, body: { rate: rate.trim(), ...termOf(term) } },
          {
            onSuccess: () => {
              toasts.success(`${gate.name} is limited to ${rate.trim()}.`);
              onClose();
            },
          },
        )
      }
    >
      <p>
        Applies to all workers together and replaces the learned rate
        {learned === null ? "" : ` (${perSecond(learned)})`}. Headgate still slows down when the
        provider refuses.
      </p>
      <Field
        label="Rate"
        hint="For example 5/s, 100/min, 2000/day or 1/3s"
        autoFocus
        autoComplete="off"
        value={rate}
        onChange={(event) => setRate(event.target.value)}
      />
      <Select label="Duration" options={TERMS} value={term} onChoose={setTerm} />
    </Confirm>
  );
}
