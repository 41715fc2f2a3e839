import { getRouteApi } from "@tanstack/react-router";
import {
  type Difference,
  type MirrorDetail,
  type Pass,
  type Rows,
  useDifferences,
  usePasses,
} from "../../api";
import {
  Badge,
  type Column,
  DataGrid,
  EmptyState,
  ErrorState,
  Loading,
  Select,
  Toolbar,
} from "../../design";
import { PartialList } from "../../shell/PartialList";
import { useCursor, useFilter } from "../../shell/urlState";
import { KINDS } from "../stream/model";
import { RowDrawer } from "../stream/RowDrawer";
import { DifferenceDrawer } from "./DifferenceDrawer";
import { type Comparison, comparisonOf, differenceInWords, loadedOf, passChoices } from "./model";

const route = getRouteApi("/frame/mirrors/$mirrorId");
const rowId = (difference: Difference) => difference.number;

/** How the rows of a stream differ between the ends of two passes. */
export function DifferencesTab({ mirror }: { mirror: MirrorDetail }) {
  const { stream, from, to } = route.useSearch();
  const rows = usePasses(mirror.id);
  if (rows.problem) return <ErrorState error={rows.problem} retry={rows.retry} />;
  if (rows.loading) return <Loading label="Loading passes" />;
  const passes = loadedOf(rows);
  const comparison = comparisonOf({ stream, from, to }, mirror, passes);
  if (!comparison) {
    return (
      <EmptyState title="Nothing to compare yet">
        <p>Differences need two passes. Begin another pass to see what changes.</p>
      </EmptyState>
    );
  }
  return (
    <>
      <Choices mirror={mirror} passes={passes} comparison={comparison} />
      <Differences mirrorId={mirror.id} comparison={comparison} />
    </>
  );
}

function Choices({
  mirror,
  passes,
  comparison,
}: {
  mirror: MirrorDetail;
  passes: readonly Pass[];
  comparison: Comparison;
}) {
  const setFilter = useFilter();
  return (
    <Toolbar label="Choose what to compare">
      <Select
        label="Stream"
        options={mirror.streams.map(({ id, name }) => ({ value: id, label: name }))}
        value={comparison.streamId}
        onChoose={(stream) => setFilter({ stream, row: undefined })}
      />
      <Select
        label="Older pass"
        options={passChoices(passes, comparison.from)}
        value={comparison.from}
        onChoose={(from) => setFilter({ from, row: undefined })}
      />
      <Select
        label="Newer pass"
        options={passChoices(passes, comparison.to)}
        value={comparison.to}
        onChoose={(to) => setFilter({ to, row: undefined })}
      />
    </Toolbar>
  );
}

function Differences({ mirrorId, comparison }: { mirrorId: string; comparison: Comparison }) {
  const { row, after } = route.useSearch();
  const { streamId, from, to } = comparison;
  const setFilter = useFilter();
  const { start, onTop, toStart } = useCursor(JSON.stringify(comparison), after);
  const rows = useDifferences({ mirrorId, streamId }, { from, to }, start);
  const close = () => setFilter({ row: undefined });
  const opened = row && find(rows, row);
  return (
    <>
      <PartialList start={start} toStart={toStart} />
      <DataGrid
        label="Differences"
        columns={COLUMNS}
        rows={rows}
        rowId={rowId}
        onOpen={(each) => setFilter({ row: each.rowId })}
        onTop={onTop}
        empty={
          <EmptyState title="No differences">
            <p>
              The stream has the same rows at the end of pass {from} and of pass {to}.
            </p>
          </EmptyState>
        }
      />
      {opened && <DifferenceDrawer difference={opened} onClose={close} />}
      {row && !opened && !rows.loading && (
        <RowDrawer place={{ mirrorId, streamId }} rowId={row} onClose={close} />
      )}
    </>
  );
}

function find(rows: Rows<Difference>, id: string): Difference | undefined {
  for (let index = 0; index < rows.count; index += 1) {
    const row = rows.row(index);
    if (row?.rowId === id) return row;
  }
  return undefined;
}

const COLUMNS: Column<Difference>[] = [
  { id: "kind", header: "Difference", width: 124, grow: 0, phone: true, cell: kind },
  { id: "row", header: "Row", width: 100, grow: 1, phone: true, cell: ({ rowId: id }) => id },
  { id: "what", header: "Fields or body", width: 160, grow: 4, cell: what },
];

function kind({ kind: name }: Difference) {
  const { label, tone, icon } = KINDS[name];
  return (
    <Badge tone={tone} icon={icon}>
      {label}
    </Badge>
  );
}

const MOST_CHARACTERS = 300;

function what(difference: Difference) {
  const words = differenceInWords(difference).slice(0, MOST_CHARACTERS);
  return <span title={words}>{words}</span>;
}
