import { useMemo, useState } from "react";
import { countOf, type ItemStatus, type Job } from "../../api";
import { Checkbox, grouped, statusStyle } from "../../design";
import { RunAgain } from "./RunAgain";

/** The most likely choice comes first. */
const FINISHED: readonly ItemStatus[] = [
  "ERROR",
  "NOT_FOUND",
  "SKIPPED",
  "CANCELLED",
  "REVIEW",
  "DONE",
];

/** Asks which items of a job to run again. Failed items are preselected. */
export function ReprocessJob({ job, onClose }: { job: Job; onClose: () => void }) {
  const offered = FINISHED.filter((status) => countOf(job.counts, status) > 0);
  const [statuses, setStatuses] = useState<readonly ItemStatus[]>(() =>
    offered.filter((status) => status === "ERROR"),
  );
  const calls = useMemo(
    () => (statuses.length ? [{ jobId: job.id, body: { statuses: [...statuses] } }] : []),
    [job.id, statuses],
  );
  return (
    <RunAgain calls={calls} onClose={onClose}>
      <fieldset>
        <legend>Items of “{job.name}”</legend>
        {offered.map((status) => (
          <Checkbox
            key={status}
            label={`${statusStyle(status).word} (${grouped(countOf(job.counts, status))})`}
            checked={statuses.includes(status)}
            onChange={() => setStatuses(toggled(statuses, status))}
          />
        ))}
      </fieldset>
    </RunAgain>
  );
}

function toggled(all: readonly ItemStatus[], one: ItemStatus): ItemStatus[] {
  return all.includes(one) ? all.filter((each) => each !== one) : [...all, one];
}
