import { getRouteApi } from "@tanstack/react-router";
import { type FormEvent, useMemo, useState } from "react";
import { type MirrorRow, type Stream, type StreamPlace, useRows, useStreamFields } from "../../api";
import { Button, Checkbox, DataGrid, EmptyState, Field, Toolbar } from "../../design";
import { PartialList } from "../../shell/PartialList";
import { useCursor, useFilter } from "../../shell/urlState";
import { columnsOf } from "./columns";
import { besides, columnFields } from "./model";
import { RowDrawer } from "./RowDrawer";
import styles from "./RowsTab.module.css";

const route = getRouteApi("/frame/mirrors/$mirrorId/streams/$streamId");
const rowId = (row: MirrorRow) => row.rowId;

/** The rows of a stream in the order in which they were first seen. */
export function RowsTab({ place, stream }: { place: StreamPlace; stream: Stream }) {
  const { deleted, row, after } = route.useSearch();
  const isAll = deleted !== undefined;
  const filter = useMemo(() => ({ deleted: isAll ? (true as const) : undefined }), [isAll]);
  const { start, onTop, toStart } = useCursor(JSON.stringify(filter), after);
  const rows = useRows(place, filter, start);
  const fields = useStreamFields(place).data;
  const columns = useMemo(() => columnsOf(columnFields(fields ?? [])), [fields]);
  const setFilter = useFilter();
  const open = (id: string | undefined) => setFilter({ row: id });
  const { previous, next } = besides(rows, row ?? "");
  return (
    <>
      <Toolbar label="Find rows">
        <FindRow onFind={open} />
        <Checkbox
          label="Show deleted"
          checked={isAll}
          onChange={() => setFilter({ deleted: isAll ? undefined : "1" })}
        />
      </Toolbar>
      <PartialList start={start} toStart={toStart} />
      <DataGrid
        label={`Rows of ${stream.name}`}
        columns={columns}
        rows={rows}
        rowId={rowId}
        onOpen={(each) => open(each.rowId)}
        onTop={onTop}
        empty={
          <EmptyState title="No rows">
            <p>
              {isAll
                ? "No pass has stored a row of this stream yet."
                : "This stream has no rows now. Deleted rows can be shown with the box above."}
            </p>
          </EmptyState>
        }
      />
      {row && (
        <RowDrawer
          place={place}
          rowId={row}
          onClose={() => open(undefined)}
          {...(next === undefined ? {} : { onNext: () => open(next) })}
          {...(previous === undefined ? {} : { onPrevious: () => open(previous) })}
        />
      )}
    </>
  );
}

/** Opens a row by its id at the source. */
function FindRow({ onFind }: { onFind: (rowId: string) => void }) {
  const [text, setText] = useState("");
  const find = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim()) onFind(text.trim());
  };
  return (
    <form className={styles.find} onSubmit={find}>
      <Field
        label="Row id"
        hideLabel
        type="search"
        data-key="/"
        placeholder="Row id  ( / )"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit" icon="search" disabled={!text.trim()}>
        Open row
      </Button>
    </form>
  );
}
