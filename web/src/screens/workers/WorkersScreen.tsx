import { getRouteApi } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { listed, useMay, useWorkers, type Worker } from "../../api";
import { Checkbox, Command, DataGrid, EmptyState, Screen, Toolbar } from "../../design";
import { AdminsOnly } from "../../shell/Failure";
import { useFilter } from "../../shell/urlState";
import { columnsOf } from "./columns";
import { DrainWorker } from "./DrainWorker";
import { inWords, mayDrain } from "./model";
import styles from "./WorkersScreen.module.css";

const route = getRouteApi("/frame/workers");
const rowId = (worker: Worker) => worker.id;
/** The server does not send heartbeats as messages, so they are polled. */
const EVERY_MS = 5_000;

/** Worker processes: state, items, and draining. */
export function WorkersScreen() {
  const isAdmin = useMay("admin");
  return (
    <Screen title="Workers">
      {isAdmin ? <Workers /> : <AdminsOnly what="Workers run all users’ jobs." />}
    </Screen>
  );
}

function Workers() {
  const isAll = route.useSearch().all !== undefined;
  const setFilter = useFilter();
  const workers = useWorkers({ all: isAll, everyMs: EVERY_MS });
  const [drained, setDrained] = useState<Worker | null>(null);
  const columns = useMemo(() => columnsOf(setDrained), []);
  return (
    <>
      <Toolbar label="Filter workers">
        <Checkbox
          label="Show stopped"
          checked={isAll}
          onChange={() => setFilter({ all: isAll ? undefined : "1" })}
        />
        {workers.data && workers.data.length > 0 && (
          <p className={styles.words}>{inWords(workers.data)}</p>
        )}
      </Toolbar>
      <DataGrid
        label="Workers"
        columns={columns}
        rows={listed(workers.data, workers)}
        rowId={rowId}
        rowKeys={[
          { key: "d", about: "Drain worker", run: (row) => mayDrain(row) && setDrained(row) },
        ]}
        empty={<NoWorkers />}
      />
      {drained && (
        <DrainWorker
          worker={drained}
          isLast={workers.data?.filter(mayDrain).length === 1}
          onClose={() => setDrained(null)}
        />
      )}
    </>
  );
}

function NoWorkers() {
  return (
    <EmptyState title="No worker is running">
      <p>Items wait until a worker is running. Start one where the handlers are:</p>
      <Command>headgate worker</Command>
    </EmptyState>
  );
}
