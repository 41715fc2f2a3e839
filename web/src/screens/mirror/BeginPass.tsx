import { useState } from "react";
import { asProblem, type Mirror, useBeginPass } from "../../api";
import { Checkbox, Confirm, Field, grouped, sentence, useToasts } from "../../design";
import { isInterrupted } from "../mirrors/model";
import styles from "./BeginPass.module.css";
import { failedIn, type PassChoice, requestOf, USUAL } from "./model";

/** Asks which pass to begin. An interrupted pass continues unless the user gives it up. */
export function BeginPass({ mirror, onClose }: { mirror: Mirror; onClose: () => void }) {
  const [choice, setChoice] = useState<PassChoice>(USUAL);
  const begin = useBeginPass(mirror.id);
  const toasts = useToasts();
  const { newest } = mirror;
  const interrupted = newest && isInterrupted(newest) ? newest : null;
  const isContinued = interrupted !== null && !choice.giveUp;
  const change = (part: Partial<PassChoice>) => setChoice({ ...choice, ...part });
  return (
    <Confirm
      title={isContinued ? `Continue pass ${interrupted.id}?` : `New pass over ${mirror.name}`}
      action={isContinued ? "Continue pass" : "Begin pass"}
      busy={begin.isPending}
      problem={begin.error ? sentence(asProblem(begin.error).detail) : undefined}
      onClose={onClose}
      onConfirm={() =>
        begin.mutate(requestOf(newest, choice), {
          onSuccess: ({ jobId, resumed, notes }) => {
            const done = resumed ? `Pass ${jobId} continues.` : `Pass ${jobId} begins.`;
            toasts.success([done, ...notes.map(sentence)].join(" "));
            onClose();
          },
        })
      }
    >
      {interrupted && (
        <>
          <p>
            Pass {interrupted.id} is not complete. Stored pages stay. Failed pages to run again:{" "}
            {grouped(failedIn(interrupted))}.
          </p>
          <Checkbox
            label="Begin a new pass instead"
            hint={`Pass ${interrupted.id} is given up. Its rows stay.`}
            checked={choice.giveUp}
            onChange={() => change({ giveUp: !choice.giveUp })}
          />
        </>
      )}
      {!isContinued && <Options mirror={mirror} choice={choice} change={change} />}
    </Confirm>
  );
}

function Options({
  mirror: { streams },
  choice,
  change,
}: {
  mirror: Mirror;
  choice: PassChoice;
  change: (part: Partial<PassChoice>) => void;
}) {
  return (
    <>
      <Checkbox
        label="Full pass"
        hint="Lists every row and finds deleted ones. Otherwise only changes since the last pass, where the source can tell them."
        checked={choice.full}
        onChange={() => change({ full: !choice.full })}
      />
      <Field
        label="Changed since"
        hint="Optional. A time as the source writes it."
        value={choice.since}
        disabled={choice.full}
        onChange={(event) => change({ since: event.target.value })}
      />
      {streams.length > 1 && (
        <fieldset className={styles.streams}>
          <legend>Streams</legend>
          {streams.map(({ id, name }) => (
            <Checkbox
              key={id}
              label={name}
              checked={choice.streams.includes(name)}
              onChange={() => change({ streams: toggled(choice.streams, name) })}
            />
          ))}
          <p className={styles.note}>None selected: the streams that the source selects.</p>
        </fieldset>
      )}
    </>
  );
}

function toggled(names: readonly string[], name: string): string[] {
  return names.includes(name) ? names.filter((each) => each !== name) : [...names, name];
}
