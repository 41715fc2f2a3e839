import { getRouteApi } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import {
  type Item,
  type ItemFilter,
  type Job,
  type ReprocessRequest,
  type Rows,
  useItems,
  useMay,
} from "../../../api";
import {
  Button,
  DataGrid,
  EmptyState,
  type Selection,
  SelectionBar,
  useSelection,
  useToasts,
} from "../../../design";
import { PartialList } from "../../../shell/PartialList";
import { useCursor, useFilter } from "../../../shell/urlState";
import { ListedItem, useOpenItem } from "../../item/ListedItem";
import { requestFor, requestForItems } from "../../reprocess/model";
import { RunAgain } from "../../reprocess/RunAgain";
import { matchingOf } from "../model";
import { CellCopy } from "./CellCopy";
import { ColumnPicker } from "./ColumnPicker";
import { columnsOf } from "./columns";
import { GridFilters } from "./GridFilters";
import { hiddenBy, namesIn, toggledIn } from "./model";

const route = getRouteApi("/frame/jobs/$jobId");
const rowId = (item: Item) => item.id;

export function GridTab({ job }: { job: Job }) {
  const {
    statuses,
    q,
    errorClass,
    signature,
    order,
    columns: chosen,
    item,
    after,
  } = route.useSearch();
  const filter = useMemo<ItemFilter>(
    () => ({ statuses, q, errorClass, signature, order: order === "updated" ? order : undefined }),
    [statuses, q, errorClass, signature, order],
  );
  const name = JSON.stringify(filter);
  const { start, onTop, toStart } = useCursor(name, after);
  const rows = useItems(job.id, filter, start);
  const selection = useSelection(name);
  const mayWrite = useMay("user");
  const open = useOpenItem();
  const setFilter = useFilter();
  const toasts = useToasts();
  const [asked, setAsked] = useState<ReprocessRequest | null>(null);

  const columns = useColumns(rows);
  const hidden = useMemo(() => hiddenBy(columns, chosen), [columns, chosen]);
  const total = matchingOf(job.counts, filter);
  const chosenRows = requestFor(selection, filter);

  return (
    <>
      <GridFilters job={job} filters={{ statuses, q, errorClass, signature, order }}>
        <ColumnPicker
          columns={columns}
          hidden={hidden}
          onToggle={(id) => setFilter({ columns: toggledIn(columns, chosen, id), after })}
          onReset={() => setFilter({ columns: undefined, after })}
        />
      </GridFilters>
      <PartialList start={start} toStart={toStart} />
      <SelectionBar selection={selection} total={total}>
        {chosenRows ? (
          <Button icon="repeat" onClick={() => setAsked(chosenRows)}>
            Run again…
          </Button>
        ) : (
          <span>Only finished items can run again.</span>
        )}
      </SelectionBar>
      <CellCopy>
        <DataGrid
          label="Items"
          columns={columns}
          hidden={hidden}
          rows={rows}
          rowId={rowId}
          total={total}
          onOpen={(row) => open(row.id)}
          onTop={onTop}
          {...(mayWrite ? { selection } : {})}
          rowKeys={[
            {
              key: "c",
              about: "Copy row as JSON",
              run: (row) =>
                void navigator.clipboard
                  .writeText(JSON.stringify(row))
                  .then(() => toasts.success(`Copied ${row.key}.`), toasts.fail),
            },
            ...(mayWrite
              ? [
                  {
                    key: "r",
                    about: "Run selected rows again, or this one",
                    run: (row: Item) => setAsked(chosenRows ?? requestForItems([row.id])),
                  },
                ]
              : []),
          ]}
          empty={<NoItems job={job} isFiltered={name !== "{}"} />}
        />
      </CellCopy>
      {asked && (
        <RunAgain
          calls={[{ jobId: job.id, body: asked }]}
          chosen={selection.any ? chosenOf(selection, total) : undefined}
          onClose={() => setAsked(null)}
          onDone={selection.clear}
        >
          <p>{aboutOf(asked)}</p>
        </RunAgain>
      )}
      {item && <ListedItem rows={rows} itemId={item} />}
    </>
  );
}

/** Columns for all result fields seen. They stay when rows are unloaded. */
function useColumns(rows: Rows<Item>) {
  const [known, setKnown] = useState<readonly string[]>([]);
  const fresh = namesIn(rows.count, rows.row).filter((name) => !known.includes(name));
  if (fresh.length > 0) setKnown([...known, ...fresh]);
  return useMemo(() => columnsOf(known), [known]);
}

function chosenOf({ everything, ids }: Selection, total: number | undefined): number | undefined {
  if (!everything) return ids.size;
  return total === undefined ? undefined : total - ids.size;
}

function aboutOf(asked: ReprocessRequest): string {
  return asked.scope === "items"
    ? "The rows that you selected."
    : "All finished items that match, including rows not shown on screen.";
}

function NoItems({ job, isFiltered }: { job: Job; isFiltered: boolean }) {
  const setFilter = useFilter();
  if (isFiltered) {
    return (
      <EmptyState title="No matching items">
        <Button
          onClick={() =>
            setFilter({
              statuses: undefined,
              q: undefined,
              errorClass: undefined,
              signature: undefined,
            })
          }
        >
          Show all items
        </Button>
      </EmptyState>
    );
  }
  return (
    <EmptyState title={job.state === "INGESTING" ? "Reading file…" : "No items"}>
      <p>
        {job.state === "INGESTING"
          ? "Items appear here as they are read."
          : "The source of this job had no valid rows. See the Configuration tab for what was read."}
      </p>
    </EmptyState>
  );
}
