import { getRouteApi } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import {
  type Item,
  type ReplayRequest,
  useDeadLetters,
  useDeadTotals,
  useHandlers,
  useMay,
} from "../../api";
import {
  Button,
  DataGrid,
  EmptyState,
  Screen,
  Select,
  SelectionBar,
  Toolbar,
  useSelection,
} from "../../design";
import { PartialList } from "../../shell/PartialList";
import { useCursor, useFilter } from "../../shell/urlState";
import { ListedItem, useOpenItem } from "../item/ListedItem";
import { RunAgain } from "../reprocess/RunAgain";
import { columnsOf } from "./columns";
import { CLASS_CHOICES, EVERYTHING, inWords, replayOf } from "./model";

const route = getRouteApi("/frame/dead-letters");
const rowId = (item: Item) => item.id;

/** Items in ERROR across jobs, oldest failure first, and their replay. */
export function DeadLettersScreen() {
  const { errorClass, jobType, item, after } = route.useSearch();
  const filter = useMemo(() => ({ errorClass, jobType }), [errorClass, jobType]);
  const name = JSON.stringify(filter);
  const { start, onTop, toStart } = useCursor(name, after);
  const rows = useDeadLetters(filter, start);
  const selection = useSelection(name);
  const open = useOpenItem();
  const mayWrite = useMay("user");
  const isAdmin = useMay("admin");
  const totals = useDeadTotals(filter).data;
  const total = rows.complete && !start ? rows.count : totals?.whole ? totals.count : undefined;
  const columns = useMemo(
    () => columnsOf(isAdmin, new Map(totals?.jobs.map(({ jobId, name: job }) => [jobId, job]))),
    [isAdmin, totals],
  );
  const [asked, setAsked] = useState<ReplayRequest | null>(null);
  const isFiltered = Boolean(errorClass || jobType);
  const isAny = rows.count > 0;

  return (
    <Screen
      title="Dead letters"
      actions={
        mayWrite &&
        isAny && (
          <Button icon="repeat" onClick={() => setAsked(replayOf(EVERYTHING, filter))}>
            {isFiltered ? "Run all matching again…" : "Run all again…"}
          </Button>
        )
      }
    >
      {(isAny || isFiltered) && <Filters errorClass={errorClass} jobType={jobType} />}
      <SelectionBar selection={selection} total={total}>
        <Button icon="repeat" onClick={() => setAsked(replayOf(selection, filter))}>
          Run again…
        </Button>
      </SelectionBar>
      <PartialList start={start} toStart={toStart} />
      <DataGrid
        label="Dead letters"
        columns={columns}
        rows={rows}
        rowId={rowId}
        total={total}
        {...(mayWrite ? { selection } : {})}
        onOpen={(row) => open(row.id)}
        onTop={onTop}
        rowKeys={
          mayWrite
            ? [{ key: "r", about: "Run again", run: (row) => setAsked({ itemIds: [row.id] }) }]
            : []
        }
        empty={<NoDeadLetters isFiltered={isFiltered} />}
      />
      {item && <ListedItem rows={rows} itemId={item} />}
      {asked && (
        <RunAgain
          calls={[{ replay: asked }]}
          noun="dead letter"
          chosen={asked.itemIds?.length}
          onClose={() => setAsked(null)}
          onDone={selection.clear}
        >
          <p>{inWords(asked)}</p>
        </RunAgain>
      )}
    </Screen>
  );
}

function Filters({ errorClass, jobType }: { [name: string]: string | undefined }) {
  const setFilter = useFilter();
  const types = [
    { value: "", label: "All types" },
    ...(useHandlers().data ?? []).map(({ name }) => ({ value: name, label: name })),
  ];
  return (
    <Toolbar label="Filter dead letters">
      <Select
        label="Class"
        hideLabel
        options={CLASS_CHOICES}
        value={errorClass ?? ""}
        onChoose={(value) => setFilter({ errorClass: value })}
      />
      <Select
        label="Type"
        hideLabel
        options={types}
        value={jobType ?? ""}
        onChoose={(value) => setFilter({ jobType: value })}
      />
    </Toolbar>
  );
}

function NoDeadLetters({ isFiltered }: { isFiltered: boolean }) {
  const setFilter = useFilter();
  if (isFiltered) {
    return (
      <EmptyState title="No matching dead letters">
        <Button onClick={() => setFilter({ errorClass: undefined, jobType: undefined })}>
          Show all dead letters
        </Button>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No dead letters">
      <p>
        Items that still fail after their last attempt appear here, with the reason. Items that a
        service does not know are “not found”, not dead letters.
      </p>
    </EmptyState>
  );
}
