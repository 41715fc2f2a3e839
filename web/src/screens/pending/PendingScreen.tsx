import { getRouteApi } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { type Item, type PendingFilter, useAbout, useMay, useOldest, usePending } from "../../api";
import {
  Button,
  counted,
  DataGrid,
  EmptyState,
  Screen,
  SelectionBar,
  useSelection,
  useToasts,
} from "../../design";
import { PartialList } from "../../shell/PartialList";
import { useCursor, useFilter } from "../../shell/urlState";
import { ListedItem, useOpenItem } from "../item/ListedItem";
import type { ReprocessCall } from "../reprocess/model";
import { RunAgain } from "../reprocess/RunAgain";
import { columnsOf } from "./columns";
import { openIn, planOf, rowIdOf } from "./model";
import { OldestPanel } from "./OldestPanel";
import { type Chosen, CLEARED, isFiltered, PendingFilters } from "./PendingFilters";

const route = getRouteApi("/frame/pending");

/** Open items across jobs, if the feature flag is on. */
export function PendingScreen() {
  const isOn = useAbout()?.features.pendingView ?? false;
  return (
    <Screen title="Pending">
      {isOn ? (
        <Pending />
      ) : (
        <EmptyState title="The Pending view is switched off">
          <p>
            Each job still has a Pending tab. The operator of this server can switch the view on
            with the setting <code>server.pending_view</code>.
          </p>
        </EmptyState>
      )}
    </Screen>
  );
}

function Pending() {
  const { item, after, ...chosen } = route.useSearch();
  const isAdmin = useMay("admin");
  const filter = usePendingFilter(chosen, isAdmin);
  const name = JSON.stringify(filter);
  const { start, onTop, toStart } = useCursor(name, after);
  const rows = usePending(filter, start);
  const selection = useSelection(name);
  const open = useOpenItem();
  const [calls, setCalls] = useState<readonly ReprocessCall[] | null>(null);
  const { columns, total } = useColumns(filter);
  const plan = planOf(selection, filter);
  const mayWrite = useMay("user");
  const toasts = useToasts();
  const runOne = (row: Item) => {
    const one = { everything: false, ids: new Set([rowIdOf(row)]) };
    const plan = planOf(one, { statuses: row.status });
    if ("calls" in plan) setCalls(plan.calls);
    else toasts.success(plan.why);
  };

  return (
    <>
      <OldestPanel userId={filter.userId ?? "me"} />
      <PendingFilters chosen={chosen} isAdmin={isAdmin} />
      <SelectionBar selection={selection} total={total}>
        {"calls" in plan ? (
          <Button icon="repeat" onClick={() => setCalls(plan.calls)}>
            Run again…
          </Button>
        ) : (
          <span>{plan.why}</span>
        )}
      </SelectionBar>
      <PartialList start={start} toStart={toStart} />
      <DataGrid
        label="Pending and processing items"
        columns={columns}
        rows={rows}
        rowId={rowIdOf}
        {...(mayWrite ? { selection } : {})}
        total={total}
        onOpen={(row) => open(row.id)}
        onTop={onTop}
        rowKeys={mayWrite ? [{ key: "r", about: "Run again", run: runOne }] : []}
        empty={<NoItems isFiltered={isFiltered(chosen)} />}
      />
      {item && <ListedItem rows={rows} itemId={item} />}
      {calls && (
        <RunAgain calls={calls} onClose={() => setCalls(null)} onDone={selection.clear}>
          {calls.length > 1 && <p>They belong to {counted(calls.length, "job")}.</p>}
        </RunAgain>
      )}
    </>
  );
}

/** The filter of the URL. Admins see all users' items by default. */
function usePendingFilter(chosen: Chosen, isAdmin: boolean): PendingFilter {
  const { statuses, jobType, jobId, from, to } = chosen;
  const userId = isAdmin && chosen.userId !== "me" ? "all" : "me";
  return useMemo(
    () => ({ statuses, userId, jobType, jobId, from, to }),
    [statuses, userId, jobType, jobId, from, to],
  );
}

/** The columns, and the number of matches if the counters know it. */
function useColumns(filter: PendingFilter) {
  const jobs = useOldest(filter.userId ?? "me").data?.jobs;
  const columns = useMemo(
    () => columnsOf(new Map(jobs?.map((job) => [job.jobId, job])), filter.userId === "all"),
    [jobs, filter.userId],
  );
  return { columns, total: jobs && openIn(jobs, filter) };
}

function NoItems({ isFiltered: narrowed }: { isFiltered: boolean }) {
  const setFilter = useFilter();
  if (!narrowed) {
    return (
      <EmptyState title="No pending items">
        <p>All items are finished. New items, and items that you run again, appear here.</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No matching items">
      <Button onClick={() => setFilter(CLEARED)}>Clear filters</Button>
    </EmptyState>
  );
}
