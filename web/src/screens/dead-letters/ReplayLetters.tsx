import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { asProblem, countReplay, keys, type ReplayAsked, useReplay } from "../../api";
import { Checkbox, Confirm, grouped, useToasts } from "../../design";

/** Asks before dead letters come back; the server says how many that are. */
export function ReplayLetters({
  asked,
  onClose,
  onDone,
}: {
  asked: ReplayAsked;
  onClose: () => void;
  onDone: () => void;
}) {
  const [resetAttempts, setReset] = useState(false);
  const body = { ...asked, resetAttempts };
  const count = useQuery({
    queryKey: [...keys.deadLetters, "replay", body],
    queryFn: () => countReplay(body),
    staleTime: 0,
  });
  const replay = useReplay();
  const toasts = useToasts();
  const many = count.data;
  const problem = replay.error ?? count.error;
  return (
    <Confirm
      title={many === undefined ? "Counting…" : `Run ${letters(many)} again?`}
      action={many === undefined ? "Run again" : `Run ${grouped(many)} again`}
      disabled={!many}
      busy={replay.isPending}
      problem={problem ? asProblem(problem).detail : undefined}
      onClose={onClose}
      onConfirm={() =>
        replay.mutate(body, {
          onSuccess: ({ count: done, jobIds }) => {
            toasts.say(`${letters(done)} of ${jobs(jobIds.length)} run again.`);
            onDone();
            onClose();
          },
        })
      }
    >
      <p>
        {asked.all ? described(asked) : "The items that you chose."} They become pending, and their
        jobs go on.
      </p>
      {many === 0 && <p>None of them can run again. Bad rows must be mended in their file.</p>}
      <Checkbox
        label="Count attempts from zero"
        hint="Their history stays; only the count begins anew."
        checked={resetAttempts}
        onChange={() => setReset(!resetAttempts)}
      />
    </Confirm>
  );
}

function described({ errorClass, jobType, exceptIds }: ReplayAsked): string {
  const what = errorClass ? `of class “${errorClass}” ` : "";
  const where = jobType ? `in jobs of type “${jobType}”` : "in all jobs";
  const but = exceptIds?.length ? `, but ${grouped(exceptIds.length)}` : "";
  return `All dead letters ${what}${where}${but}.`;
}

function letters(many: number): string {
  return many === 1 ? "1 dead letter" : `${grouped(many)} dead letters`;
}

function jobs(many: number): string {
  return many === 1 ? "1 job" : `${grouped(many)} jobs`;
}
