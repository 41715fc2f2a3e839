import { getRouteApi } from "@tanstack/react-router";
import { type MirrorDetail, type Pass, usePasses } from "../../api";
import { Ago, type Column, DataGrid, duration, EmptyState, grouped } from "../../design";
import { PartialList } from "../../shell/PartialList";
import { useCursor, useFilter } from "../../shell/urlState";
import { PassState } from "../mirrors/columns";
import { modeOf, type PassSums, startOf, sumsOf, verdictOf } from "../mirrors/model";
import { VerdictBadge } from "../mirrors/Verdict";
import { secondsOf } from "./model";
import { PassDrawer } from "./PassDrawer";

const route = getRouteApi("/frame/mirrors/$mirrorId");
const rowId = (pass: Pass) => pass.id;

/** All passes over a mirror, newest first. */
export function PassesTab({ mirror }: { mirror: MirrorDetail }) {
  const { pass, after } = route.useSearch();
  const setFilter = useFilter();
  const { start, onTop, toStart } = useCursor(mirror.id, after);
  const rows = usePasses(mirror.id, start);
  return (
    <>
      <PartialList start={start} toStart={toStart} />
      <DataGrid
        label="Passes"
        columns={COLUMNS}
        rows={rows}
        rowId={rowId}
        onOpen={({ id }) => setFilter({ pass: id })}
        onTop={onTop}
        empty={
          <EmptyState title="No passes yet">
            <p>Begin the first pass to copy the rows of the source.</p>
          </EmptyState>
        }
      />
      {pass && <PassDrawer passId={pass} onClose={() => setFilter({ pass: undefined })} />}
    </>
  );
}

const COLUMNS: Column<Pass>[] = [
  { id: "id", header: "Pass", width: 64, grow: 0, phone: true, cell: (pass) => pass.id },
  {
    id: "state",
    header: "State",
    width: 184,
    phoneWidth: 126,
    grow: 0,
    phone: true,
    cell: (pass) => <PassState pass={pass} />,
  },
  {
    id: "proof",
    header: "Proof",
    width: 156,
    phoneWidth: 140,
    grow: 1,
    phone: true,
    cell: (pass) => <VerdictBadge verdict={verdictOf(pass)} />,
  },
  { id: "mode", header: "Mode", width: 104, grow: 1, wide: true, cell: modeOf },
  figure("pages", "Pages"),
  figure("rows", "Rows seen"),
  figure("added", "New"),
  figure("changed", "Changed"),
  {
    id: "started",
    header: "Started",
    width: 100,
    grow: 0,
    cell: (pass) => <Ago at={startOf(pass)} />,
  },
  { id: "duration", header: "Duration", width: 84, grow: 0, wide: true, align: "end", cell: took },
];

function figure(id: keyof PassSums, header: string): Column<Pass> {
  const cell = (pass: Pass) => grouped(sumsOf(pass)[id]);
  return { id, header, width: 88, grow: 0, align: "end", cell };
}

function took(pass: Pass): string {
  const seconds = secondsOf(pass);
  return seconds === null ? "–" : duration(seconds);
}
