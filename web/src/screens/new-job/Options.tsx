import type { Handler, Preview } from "../../api";
import { Checkbox, Field, Select } from "../../design";
import { BadRows } from "./BadRows";
import details from "./Details.module.css";
import type { Draft } from "./draft";
import type { Change } from "./NewJobScreen";

const AGES = [
  { value: "", label: "No: ask for every row" },
  { value: "1d", label: "Yes, if at most a day old" },
  { value: "7d", label: "Yes, if at most a week old" },
  { value: "30d", label: "Yes, if at most 30 days old" },
  { value: "365d", label: "Yes, if at most a year old" },
];

const SHARES = [
  { value: "-2", label: "Much less than others" },
  { value: "-1", label: "Half of the usual" },
  { value: "0", label: "The usual" },
  { value: "1", label: "Twice the usual" },
  { value: "2", label: "Four times the usual" },
];

/** What else can be said of a job, and what each of it means. */
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
          hint="How the job is found again; else it is called after the handler and the file."
          maxLength={200}
          value={draft.name}
          onChange={({ target }) => onChange({ name: target.value })}
        />
        <Select
          label="Share among your jobs"
          hint="How much of the workers’ time it gets while other jobs of yours run."
          options={SHARES}
          value={String(draft.priority)}
          onChoose={(value) => onChange({ priority: Number(value) })}
        />
        <Select
          label="Take over earlier results"
          hint={
            handler?.version
              ? "A row that was answered before is not asked about again."
              : "Needs a handler that declares a version, so that old results can be trusted."
          }
          options={AGES}
          disabled={!handler?.version}
          value={draft.reuse}
          onChoose={(reuse) => onChange({ reuse })}
        />
      </div>
      <Checkbox
        label="Begin before the file is read to its end"
        hint="Results come sooner. But if a later row stops the reading, work was done already."
        checked={draft.eager}
        onChange={({ target }) => onChange({ eager: target.checked })}
      />
    </>
  );
}
