import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { listed, type MirrorDetail } from "../../api";
import { DataGrid, EmptyState } from "../../design";
import { type StreamRow, streamRows } from "./model";
import { STREAM_COLUMNS } from "./streamColumns";

const rowId = ({ stream }: StreamRow) => stream.id;
const LOADED = { error: null, isFetching: false, refetch: () => {} };

/** The streams of a mirror, each with what the newest pass saw of it. */
export function StreamsTab({ mirror }: { mirror: MirrorDetail }) {
  const navigate = useNavigate();
  const rows = useMemo(() => streamRows(mirror), [mirror]);
  return (
    <DataGrid
      label="Streams"
      columns={STREAM_COLUMNS}
      rows={listed(rows, LOADED)}
      rowId={rowId}
      onOpen={({ stream }) =>
        void navigate({
          to: "/mirrors/$mirrorId/streams/$streamId",
          params: { mirrorId: mirror.id, streamId: stream.id },
        })
      }
      empty={
        <EmptyState title="No streams">
          <p>The streams of the source appear here when its first pass begins.</p>
        </EmptyState>
      }
    />
  );
}
