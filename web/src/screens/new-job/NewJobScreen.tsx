import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useRef, useState } from "react";
import { useHandlers, useMay } from "../../api";
import { EmptyState, ErrorState, Loading, Panel, Screen } from "../../design";
import { useFilter } from "../../shell/urlState";
import { Columns } from "./Columns";
import { FileSource } from "./FileSource";
import { LeaveGuard, useDropGuard } from "./guards";
import { HandlerChoice } from "./HandlerChoice";
import { type Draft, EMPTY_DRAFT, hasRows } from "./model";
import styles from "./NewJobScreen.module.css";
import { Options } from "./Options";
import { usePreview } from "./preview";
import { Start } from "./Start";

const route = getRouteApi("/frame/jobs/new");

/** The form for a new job: file, preview, handler, options. */
export function NewJobScreen() {
  if (useMay("user")) return <NewJob />;
  return (
    <Screen title="New job">
      <EmptyState title="You have read-only access">
        <p>To create jobs, ask an admin for the role “user”.</p>
      </EmptyState>
    </Screen>
  );
}

export type Change = (part: Partial<Draft>) => void;

function NewJob() {
  const { handler: chosen } = route.useSearch();
  const setFilter = useFilter();
  const [draft, setDraft] = useState<Draft>(() => ({ ...EMPTY_DRAFT, handler: chosen ?? "" }));
  const change = useCallback<Change>((part) => setDraft((old) => ({ ...old, ...part })), []);
  const preview = usePreview(draft);
  const isStarted = useRef(false);
  useDropGuard();
  const handlers = useHandlers();
  if (handlers.error) return <ErrorState error={handlers.error} retry={handlers.refetch} />;
  if (!handlers.data) return <Loading />;
  const handler = handlers.data.find(({ name }) => name === draft.handler);
  const choose = (name: string) => {
    change({ handler: name, config: {}, configProblem: "", reuse: "" });
    setFilter({ handler: name });
  };

  return (
    <Screen title="New job">
      <LeaveGuard isOn={() => hasRows(draft) && !isStarted.current} />
      <div className={styles.steps}>
        <Panel title="1. Rows">
          <FileSource draft={draft} preview={preview} onChange={change} />
        </Panel>
        <Panel title="2. Choose an action (handler)">
          <HandlerChoice
            draft={draft}
            handlers={handlers.data}
            handler={handler}
            onChoose={choose}
            onChange={change}
          />
        </Panel>
        {preview.data && (
          <Panel title="3. Columns">
            <Columns draft={draft} preview={preview.data} handler={handler} onChange={change} />
          </Panel>
        )}
        <Panel title={preview.data ? "4. Options" : "3. Options"}>
          <Options draft={draft} preview={preview.data} handler={handler} onChange={change} />
        </Panel>
        <Start
          draft={draft}
          preview={preview.data}
          handler={handler}
          onStarted={() => {
            isStarted.current = true;
          }}
        />
      </div>
    </Screen>
  );
}
