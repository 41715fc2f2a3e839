import { useState } from "react";
import { asProblem, type Gate, useChangeGate } from "../../api";
import { Confirm, counted, Field, perSecond, Select, useToasts } from "../../design";
import { DEFAULT_DURATION, DURATIONS, durationOf } from "./model";

/** Asks before the learned limit of a gate is dropped. */
export function ForgetGate({ gate, onClose }: { gate: Gate; onClose: () => void }) {
  const change = useChangeGate();
  const toasts = useToasts();
  const replies = counted(gate.replies, "response");
  return (
    <Confirm
      danger
      title={`Forget the limit learned from ${replies}?`}
      action="Forget limit"
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

/** Asks before a gate is paused, and for how long. */
export function PauseGate({ gate, onClose }: { gate: Gate; onClose: () => void }) {
  const [term, setTerm] = useState(DEFAULT_DURATION);
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
          { name: gate.key, body: { paused: true, ...durationOf(term) } },
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
      <Select label="Duration" options={DURATIONS} value={term} onChoose={setTerm} />
    </Confirm>
  );
}

/** Asks for a rate that replaces the learned one, and for how long. */
export function SetRate({ gate, onClose }: { gate: Gate; onClose: () => void }) {
  const [rate, setRate] = useState("");
  const [term, setTerm] = useState(DEFAULT_DURATION);
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
          { name: gate.key, body: { rate: rate.trim(), ...durationOf(term) } },
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
      <Select label="Duration" options={DURATIONS} value={term} onChoose={setTerm} />
    </Confirm>
  );
}
