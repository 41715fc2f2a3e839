import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { JOB_STATES, type Job, useHandlers, useJobs, useMay } from "../../api";
import {
  Button,
  DataGrid,
  EmptyState,
  Screen,
  SearchField,
  Select,
  statusStyle,
  Toolbar,
} from "../../design";
import { PartialList } from "../../shell/PartialList";
import { useCursor, useFilter } from "../../shell/urlState";
import { ReprocessJob } from "../reprocess/ReprocessJob";
import { columnsOf } from "./columns";
import { FirstSteps } from "./FirstSteps";

const route = getRouteApi("/frame/");
const rowId = (job: Job) => job.id;

/** All jobs that the user may see, newest first. */
export function JobsScreen() {
  const { q, states, handler, after } = route.useSearch();
  const filter = useMemo(() => ({ q, states, handler }), [q, states, handler]);
  const setFilter = useFilter();
  const { start, onTop, toStart } = useCursor(JSON.stringify(filter), after);
  const rows = useJobs(filter, start);
  const navigate = useNavigate();
  const mayWrite = useMay("user");
  const isAdmin = useMay("admin");
  const columns = useMemo(() => columnsOf({ mayWrite, isAdmin }), [mayWrite, isAdmin]);
  const [reprocessed, setReprocessed] = useState<Job | null>(null);
  const isFiltered = Boolean(q || states || handler);

  return (
    <Screen
      title="Jobs"
      actions={
        mayWrite && (
          <Button variant="primary" icon="plus" onClick={() => void navigate({ to: "/jobs/new" })}>
            New job
          </Button>
        )
      }
    >
      <Filters q={q} states={states} handler={handler} />
      <PartialList start={start} toStart={toStart} />
      <DataGrid
        label="Jobs"
        columns={columns}
        rows={rows}
        rowId={rowId}
        onOpen={(job) => void navigate({ to: "/jobs/$jobId", params: { jobId: job.id } })}
        onTop={onTop}
        rowKeys={mayWrite ? [{ key: "r", about: "Run items again", run: setReprocessed }] : []}
        empty={
          isFiltered ? (
            <EmptyState title="No matching jobs">
              <Button
                onClick={() => setFilter({ q: undefined, states: undefined, handler: undefined })}
              >
                Show all jobs
              </Button>
            </EmptyState>
          ) : (
            <FirstSteps mayWrite={mayWrite} />
          )
        }
      />
      {reprocessed && <ReprocessJob job={reprocessed} onClose={() => setReprocessed(null)} />}
    </Screen>
  );
}

const STATES = [
  { value: "", label: "All states" },
  { value: "INGESTING,QUEUED,RUNNING,PAUSED", label: "Unfinished" },
  ...JOB_STATES.map((state) => ({ value: state, label: statusStyle(state).label })),
];

function Filters({ q, states, handler }: { [name: string]: string | undefined }) {
  const setFilter = useFilter();
  const handlers = useHandlers().data ?? [];
  const types = [
    { value: "", label: "All types" },
    ...handlers.map(({ name }) => ({ value: name, label: name })),
  ];
  return (
    <Toolbar label="Filter jobs">
      <SearchField
        label="Search jobs"
        placeholder="Name or file"
        value={q ?? ""}
        onSearch={(text) => setFilter({ q: text })}
      />
      <Select
        label="State"
        hideLabel
        options={STATES}
        value={states ?? ""}
        onChoose={(value) => setFilter({ states: value })}
      />
      <Select
        label="Type"
        hideLabel
        options={types}
        value={handler ?? ""}
        onChoose={(value) => setFilter({ handler: value })}
      />
    </Toolbar>
  );
}
