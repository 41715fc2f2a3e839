import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  asProblem,
  type Counts,
  countReprocess,
  type ItemStatus,
  type Job,
  keys,
  type ReprocessAsked,
  useReprocess,
} from "../../api";
import { Checkbox, Confirm, grouped, lookOf, useToasts } from "../../design";

const CHOICES: readonly [ItemStatus, keyof Counts][] = [
  ["ERROR", "error"],
  ["NOT_FOUND", "notFound"],
  ["SKIPPED", "skipped"],
  ["CANCELLED", "cancelled"],
  ["REVIEW", "review"],
  ["DONE", "done"],
];

/** Asks which items of a job are to run again; the server counts them first. */
export function ReprocessJob({ job, onClose }: { job: Job; onClose: () => void }) {
  const [statuses, setStatuses] = useState<readonly ItemStatus[]>(() => offered(job.counts));
  const [resetAttempts, setReset] = useState(false);
  const body: ReprocessAsked = { statuses: [...statuses], resetAttempts };
  const isAny = statuses.length > 0;
  const count = useQuery({
    queryKey: [...keys.job(job.id), "reprocess", body],
    queryFn: () => countReprocess(job.id, body),
    enabled: isAny,
    staleTime: 0,
  });
  const reprocess = useReprocess();
  const toasts = useToasts();
  const many = isAny ? count.data : 0;
  const problem = reprocess.error ?? count.error;

  return (
    <Confirm
      title={many === undefined ? "Counting…" : `Run ${grouped(many)} items again?`}
      action={many === undefined ? "Run again" : `Run ${grouped(many)} again`}
      disabled={!many}
      busy={reprocess.isPending}
      problem={problem ? asProblem(problem).detail : undefined}
      onClose={onClose}
      onConfirm={() =>
        reprocess.mutate(
          { id: job.id, body },
          {
            onSuccess: ({ count: done }) => {
              toasts.say(`${grouped(done)} items of ${job.name} run again.`);
              onClose();
            },
          },
        )
      }
    >
      <fieldset>
        <legend>Which items of “{job.name}”</legend>
        {CHOICES.filter(([, name]) => job.counts[name] > 0).map(([status, name]) => (
          <Checkbox
            key={status}
            label={`${lookOf(status).word} (${grouped(job.counts[name])})`}
            checked={statuses.includes(status)}
            onChange={() => setStatuses(toggled(statuses, status))}
          />
        ))}
      </fieldset>
      <Checkbox
        label="Count attempts from zero"
        hint="Also brings back items that were tried as often as is allowed."
        checked={resetAttempts}
        onChange={() => setReset(!resetAttempts)}
      />
    </Confirm>
  );
}

/** What one most likely wants to run again. */
function offered(counts: Counts): ItemStatus[] {
  return CHOICES.filter(([status, name]) => status === "ERROR" && counts[name] > 0).map(
    ([status]) => status,
  );
}

function toggled(all: readonly ItemStatus[], one: ItemStatus): ItemStatus[] {
  return all.includes(one) ? all.filter((each) => each !== one) : [...all, one];
}
