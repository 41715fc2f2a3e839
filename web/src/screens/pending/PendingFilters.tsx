import { type ReactNode, useState } from "react";
import { useHandlers } from "../../api";
import { Button, Field, Select, Toolbar, usePhone } from "../../design";
import { useFilter } from "../../shell/urlState";
import { dayToMoment, momentToDay, STATUS_CHOICES } from "./model";

/** The filters of the Pending screen in the URL. */
export interface Chosen {
  statuses?: string | undefined;
  userId?: string | undefined;
  jobType?: string | undefined;
  jobId?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

export const CLEARED = {
  statuses: undefined,
  userId: undefined,
  jobType: undefined,
  jobId: undefined,
  from: undefined,
  to: undefined,
};

const OWNERS = [
  { value: "", label: "All users" },
  { value: "me", label: "Mine" },
];

/** Filters by status, type, job, and date of the last change. */
export function PendingFilters({ chosen, isAdmin }: { chosen: Chosen; isAdmin: boolean }) {
  const setFilter = useFilter();
  const isPhone = usePhone();
  const [isWhole, setWhole] = useState(false);
  return (
    <Toolbar label="Filter pending items">
      <FilterGroup wide>
        <Select
          label="Status"
          options={STATUS_CHOICES}
          value={chosen.statuses ?? ""}
          onChoose={(statuses) => setFilter({ statuses })}
        />
      </FilterGroup>
      {isPhone && (
        <Button aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? "Fewer filters" : "More filters"}
        </Button>
      )}
      {(!isPhone || isWhole) && <MoreFilters chosen={chosen} isAdmin={isAdmin} />}
      {isFiltered(chosen) && (
        <Button variant="quiet" icon="cross" onClick={() => setFilter(CLEARED)}>
          Clear
        </Button>
      )}
    </Toolbar>
  );
}

function MoreFilters({ chosen, isAdmin }: { chosen: Chosen; isAdmin: boolean }) {
  const setFilter = useFilter();
  const types = [
    { value: "", label: "All types" },
    ...(useHandlers().data ?? []).map(({ name }) => ({ value: name, label: name })),
  ];
  return (
    <>
      {isAdmin && (
        <FilterGroup>
          <Select
            label="Owner"
            options={OWNERS}
            value={chosen.userId ?? ""}
            onChoose={(userId) => setFilter({ userId })}
          />
        </FilterGroup>
      )}
      <FilterGroup>
        <Select
          label="Type"
          options={types}
          value={chosen.jobType ?? ""}
          onChoose={(jobType) => setFilter({ jobType })}
        />
      </FilterGroup>
      <FilterGroup>
        <Field
          label="Job id"
          data-key="/"
          inputMode="numeric"
          placeholder="All jobs"
          value={chosen.jobId ?? ""}
          onChange={(event) => setFilter({ jobId: event.target.value.trim() || undefined })}
        />
      </FilterGroup>
      <FilterGroup>
        <Field
          label="Updated from"
          type="date"
          value={momentToDay(chosen.from)}
          onChange={(event) => setFilter({ from: dayToMoment(event.target.value) })}
        />
      </FilterGroup>
      <FilterGroup>
        <Field
          label="Updated until"
          type="date"
          value={momentToDay(chosen.to, { next: true })}
          onChange={(event) => setFilter({ to: dayToMoment(event.target.value, { next: true }) })}
        />
      </FilterGroup>
    </>
  );
}

/** A narrow field: several filters share a line. */
function FilterGroup({ wide = false, children }: { wide?: boolean; children: ReactNode }) {
  return <div style={{ flexBasis: wide ? 204 : 156 }}>{children}</div>;
}

/** True if any filter is set. */
export function isFiltered(chosen: Chosen): boolean {
  return Object.keys(CLEARED).some((name) => Boolean(chosen[name as keyof Chosen]));
}
