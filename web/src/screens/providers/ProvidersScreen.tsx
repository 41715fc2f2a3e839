import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import { type Gate, type GateFilter, listed, useGates, useMay } from "../../api";
import { Button, DataGrid, EmptyState, Screen, SearchField, Select, Toolbar } from "../../design";
import { AdminsOnly } from "../../shell/Failure";
import { useFilter } from "../../shell/urlState";
import { COLUMNS } from "./columns";
import { GateDrawer } from "./GateDrawer";
import { LedgerSkew, matchingGates, skewOf } from "./model";

const route = getRouteApi("/frame/providers");
const rowId = (gate: Gate) => gate.key;
const GATE_FILTERS = [
  { value: "", label: "Used" },
  { value: "declared", label: "Configured" },
  { value: "all", label: "All known" },
];

/** Gates: what was learned about services, and what an operator sets. */
export function ProvidersScreen() {
  const isAdmin = useMay("admin");
  return (
    <Screen title="Providers">
      {isAdmin ? <Gates /> : <AdminsOnly what="All users’ jobs share the limits." />}
    </Screen>
  );
}

function Gates() {
  const { which, gate: opened, q } = route.useSearch();
  const setFilter = useFilter();
  const gates = useGates(whichOf(which));
  const items = gates.data?.items;
  const shown = useMemo(() => items && matchingGates(items, q ?? ""), [items, q]);
  const gate = items?.find(({ key }) => key === opened);
  return (
    <LedgerSkew value={skewOf(gates.data?.now, gates.dataUpdatedAt)}>
      <Toolbar label="Filter gates">
        <SearchField
          label="Search gates"
          value={q ?? ""}
          onSearch={(text) => setFilter({ q: text })}
        />
        <Select
          label="Show"
          hideLabel
          options={GATE_FILTERS}
          value={which ?? ""}
          onChoose={(value) => setFilter({ which: value })}
        />
      </Toolbar>
      <DataGrid
        label="Gates"
        columns={COLUMNS}
        rows={listed(shown, gates)}
        rowId={rowId}
        onOpen={({ key }) => setFilter({ gate: key })}
        empty={<NoProviders isSearched={Boolean(q)} which={which} />}
      />
      {gate && <GateDrawer gate={gate} onClose={() => setFilter({ gate: undefined })} />}
    </LedgerSkew>
  );
}

function whichOf(text: string | undefined): GateFilter {
  return text === "declared" || text === "all" ? text : "used";
}

function NoProviders({ isSearched, which }: { isSearched: boolean; which: string | undefined }) {
  const setFilter = useFilter();
  if (isSearched) {
    return (
      <EmptyState title="No matching gates">
        <Button onClick={() => setFilter({ q: undefined })}>Show all gates</Button>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No requests yet">
      <p>
        Each service that a handler calls with <code>ctx.http</code> has a gate. The gate learns how
        many requests per second the service accepts.
      </p>
      {which !== "all" && (
        <Button onClick={() => setFilter({ which: "all" })}>Show all known providers</Button>
      )}
    </EmptyState>
  );
}
