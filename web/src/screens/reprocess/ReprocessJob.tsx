import { useMemo, useState } from "react";
import { countOf, ITEM_STATUSES, type ItemStatus, type Job, mayMoveItem } from "../../api";
import { Checkbox, grouped, statusStyle } from "../../design";
import { RunAgain } from "./RunAgain";

/** Asks which items of a job to run again. Failed items are preselected. */
export function ReprocessJob({ job, onClose }: { job: Job; onClose: () => void }) {
  const offered = ITEM_STATUSES.filter(
    (status) => mayMoveItem(status, "requeue") && countOf(job.counts, status) > 0,
  );
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
            label={`${statusStyle(status).label} (${grouped(countOf(job.counts, status))})`}
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
