import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import { type Item, type ItemFilter, isUnfinished, type Job, OPEN, useItems } from "../../api";
import { DataGrid, EmptyState, SearchField, Select, Toolbar } from "../../design";
import { PartialList } from "../../shell/PartialList";
import { useCursor, useFilter } from "../../shell/urlState";
import { ListedItem, useOpenItem } from "../item/ListedItem";
import { OPEN_CHOICES } from "../pending/model";
import { matchingOf } from "./model";
import { PENDING_COLUMNS } from "./pendingColumns";

const route = getRouteApi("/frame/jobs/$jobId");
const rowId = (item: Item) => item.id;

/** Open items of a job, longest unchanged first, and why they wait. */
export function PendingTab({ job }: { job: Job }) {
  const { statuses, q, item, after } = route.useSearch();
  const filter = useMemo<ItemFilter>(
    () => ({ statuses: statuses ?? OPEN.join(","), q, order: "updated", waits: true }),
    [statuses, q],
  );
  const { start, onTop, toStart } = useCursor(JSON.stringify(filter), after);
  const rows = useItems(job.id, filter, start);
  const setFilter = useFilter();
  const open = useOpenItem();
  return (
    <>
      <Toolbar label="Filter pending items">
        <SearchField
          label="Search items"
          placeholder="Key or row"
          value={q ?? ""}
          onSearch={(text) => setFilter({ q: text })}
        />
        <Select
          label="Status"
          hideLabel
          options={OPEN_CHOICES}
          value={statuses ?? ""}
          onChoose={(value) => setFilter({ statuses: value })}
        />
      </Toolbar>
      <PartialList start={start} toStart={toStart} />
      <DataGrid
        label="Pending and processing items"
        columns={PENDING_COLUMNS}
        rows={rows}
        rowId={rowId}
        total={matchingOf(job.counts, filter)}
        onOpen={(row) => open(row.id)}
        onTop={onTop}
        empty={<NoItems job={job} />}
      />
      {item && <ListedItem rows={rows} itemId={item} />}
    </>
  );
}

function NoItems({ job }: { job: Job }) {
  return (
    <EmptyState title="No pending items">
      <p>
        {isUnfinished(job)
          ? "No item of this job is pending or running now."
          : "Every item of this job is finished. Items that you run again appear here."}
      </p>
    </EmptyState>
  );
}
