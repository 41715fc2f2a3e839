import type { Handler, Preview } from "../../api";
import { Checkbox, Field, Select } from "../../design";
import { BadRows } from "./BadRows";
import details from "./Details.module.css";
import type { Draft } from "./model";
import type { Change } from "./NewJobScreen";

const AGES = [
  { value: "", label: "Off" },
  { value: "1d", label: "Up to 1 day old" },
  { value: "7d", label: "Up to 7 days old" },
  { value: "30d", label: "Up to 30 days old" },
  { value: "365d", label: "Up to 1 year old" },
];

const SHARES = [
  { value: "-2", label: "Lowest (¼×)" },
  { value: "-1", label: "Low (½×)" },
  { value: "0", label: "Normal" },
  { value: "1", label: "High (2×)" },
  { value: "2", label: "Highest (4×)" },
];

/** Further options of a job. */
export function Options({
  draft,
  preview,
  handler,
  onChange,
}: {
  draft: Draft;
  preview: Preview | undefined;
  handler: Handler | undefined;
  onChange: Change;
}) {
  return (
    <>
      <BadRows
        chosen={draft.onBadRow}
        problems={preview?.problems ?? []}
        onChoose={(onBadRow) => onChange({ onBadRow })}
      />
      <div className={details.fields}>
        <Field
          label="Name"
          hint="Optional. Defaults to handler + file name."
          maxLength={200}
          value={draft.name}
          onChange={({ target }) => onChange({ name: target.value })}
        />
        <Select
          label="Priority"
          hint="Share of the workers’ time while your other jobs run."
          options={SHARES}
          value={String(draft.priority)}
          onChoose={(value) => onChange({ priority: Number(value) })}
        />
        <Select
          label="Reuse cached results"
          hint={
            handler?.version
              ? "Rows with an earlier result are not requested again."
              : "Requires a handler that declares a version."
          }
          options={AGES}
          disabled={!handler?.version}
          value={draft.reuse}
          onChoose={(reuse) => onChange({ reuse })}
        />
      </div>
      <Checkbox
        label="Start before the whole file is read"
        hint="Results come sooner. If a later row stops the reading, some rows have already run."
        checked={draft.eager}
        onChange={({ target }) => onChange({ eager: target.checked })}
      />
    </>
  );
}
