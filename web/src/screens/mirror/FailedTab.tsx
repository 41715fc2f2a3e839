import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { type Item, type MirrorDetail, type ReprocessRequest, useItems, useMay } from "../../api";
import {
  Ago,
  Button,
  type Column,
  DataGrid,
  EmptyState,
  grouped,
  SelectionBar,
  useSelection,
} from "../../design";
import { PartialList } from "../../shell/PartialList";
import { useCursor } from "../../shell/urlState";
import { errorClass, lastError } from "../dead-letters/columns";
import { ListedItem, useOpenItem } from "../item/ListedItem";
import { requestFor, requestForItems } from "../reprocess/model";
import { RunAgain } from "../reprocess/RunAgain";
import { failedIn } from "./model";

const route = getRouteApi("/frame/mirrors/$mirrorId");
const rowId = (item: Item) => item.id;
const FAILED = { statuses: "ERROR" };
const ALL = { everything: true, ids: new Set<string>() };

/** Pages of the newest pass that failed. Their streams stay open until they are retried. */
export function FailedTab({ mirror: { newest } }: { mirror: MirrorDetail }) {
  if (!newest?.job || failedIn(newest) === 0) return <NoFailedPages />;
  return <FailedPages jobId={newest.id} total={failedIn(newest)} />;
}

function FailedPages({ jobId, total }: { jobId: string; total: number }) {
  const { item, after } = route.useSearch();
  const { start, onTop, toStart } = useCursor(jobId, after);
  const rows = useItems(jobId, FAILED, start);
  const selection = useSelection(jobId);
  const open = useOpenItem();
  const mayWrite = useMay("user");
  const [asked, setAsked] = useState<ReprocessRequest | null>(null);
  const chosen = requestFor(selection, FAILED);
  return (
    <>
      {mayWrite && !selection.any && (
        <div>
          <Button icon="repeat" onClick={() => setAsked(requestFor(ALL, FAILED))}>
            Retry all failed pages…
          </Button>
        </div>
      )}
      <SelectionBar selection={selection} total={total}>
        <Button icon="repeat" onClick={() => setAsked(chosen)}>
          Retry…
        </Button>
      </SelectionBar>
      <PartialList start={start} toStart={toStart} />
      <DataGrid
        label="Failed pages"
        columns={COLUMNS}
        rows={rows}
        rowId={rowId}
        total={total}
        {...(mayWrite ? { selection } : {})}
        onOpen={({ id }) => open(id)}
        onTop={onTop}
        rowKeys={
          mayWrite
            ? [
                {
                  key: "r",
                  about: "Retry selected pages, or this one",
                  run: ({ id }) => setAsked(chosen ?? requestForItems([id])),
                },
              ]
            : []
        }
        empty={<NoFailedPages />}
      />
      {item && <ListedItem rows={rows} itemId={item} />}
      {asked && (
        <RunAgain
          calls={[{ jobId, body: asked }]}
          noun="page"
          onClose={() => setAsked(null)}
          onDone={selection.clear}
        >
          <p>A stream is complete once all its pages are stored.</p>
        </RunAgain>
      )}
    </>
  );
}

const COLUMNS: Column<Item>[] = [
  { id: "page", header: "Page", width: 120, grow: 2, phone: true, cell: page },
  { id: "class", header: "Class", width: 148, grow: 0, phone: true, cell: errorClass },
  { id: "error", header: "What went wrong", width: 160, grow: 5, cell: lastError },
  {
    id: "attempts",
    header: "Attempts",
    width: 84,
    grow: 0,
    align: "end",
    cell: (item) => grouped(item.attempts),
  },
  {
    id: "failed",
    header: "Failed at",
    width: 94,
    grow: 0,
    cell: (item) => <Ago at={item.updatedAt} />,
  },
];

function page({ key }: Item) {
  return <span title={key}>{key}</span>;
}

function NoFailedPages() {
  return (
    <EmptyState title="No failed pages">
      <p>
        Pages of the newest pass that still fail after their last attempt appear here. Their streams
        stay incomplete, and delete nothing, until the pages are retried.
      </p>
    </EmptyState>
  );
}
