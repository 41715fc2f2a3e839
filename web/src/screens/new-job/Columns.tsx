import { useEffect } from "react";
import type { Handler, Preview } from "../../api";
import { Checkbox, classes, Field, grouped, Select } from "../../design";
import styles from "./Columns.module.css";
import details from "./Details.module.css";
import { columnFor, type Draft, named, suggested, withColumn } from "./model";
import type { Change } from "./NewJobScreen";

/** Number of columns from which the list scrolls. */
const MANY = 15;

/** Maps columns to the handler's needs, and picks the unique key. */
export function Columns({
  draft,
  preview,
  handler,
  onChange,
}: {
  draft: Draft;
  preview: Preview;
  handler: Handler | undefined;
  onChange: Change;
}) {
  const { columns } = preview;
  useEffect(() => {
    if (handler) onChange({ names: suggested(columns, handler.needs) });
  }, [columns, handler, onChange]);
  return (
    <>
      {handler && handler.needs.length > 0 && (
        <Needs columns={columns} needs={handler.needs} names={draft.names} onChange={onChange} />
      )}
      <KeyColumns columns={columns} draft={draft} onChange={onChange} />
      <details className={details.details}>
        <summary>Rename columns</summary>
        <div className={details.fields}>
          {columns.map((column) => (
            <Field
              key={column}
              label={column}
              placeholder={column}
              value={draft.names[column] ?? ""}
              onChange={({ target }) =>
                onChange({ names: { ...draft.names, [column]: target.value } })
              }
            />
          ))}
        </div>
      </details>
    </>
  );
}

function Needs({
  columns,
  needs,
  names,
  onChange,
}: {
  columns: readonly string[];
  needs: readonly string[];
  names: Draft["names"];
  onChange: Change;
}) {
  const options = [
    { value: "", label: "Choose a column" },
    ...columns.map((column) => ({ value: column, label: column })),
  ];
  return (
    <div className={details.fields}>
      {needs.map((need) => {
        const column = columnFor(columns, names, need);
        return (
          <Select
            key={need}
            label={`Column for “${need}”`}
            options={options}
            value={column}
            problem={column ? undefined : "Required by the handler in every row."}
            onChoose={(chosen) => onChange({ names: withColumn(columns, names, need, chosen) })}
          />
        );
      })}
    </div>
  );
}

function KeyColumns({
  columns,
  draft,
  onChange,
}: {
  columns: readonly string[];
  draft: Draft;
  onChange: Change;
}) {
  const { key, names } = draft;
  const toggle = (column: string) =>
    onChange({
      key: columns.filter((each) => (each === column ? !key.includes(each) : key.includes(each))),
    });
  return (
    <fieldset className={styles.keys}>
      <legend>Unique key</legend>
      <p className={styles.hint}>
        {key.length === 0
          ? "None: every line becomes an item."
          : "Rows with the same values as an earlier row are skipped."}
        {columns.length > MANY && ` ${grouped(columns.length)} columns: scroll for more.`}
      </p>
      <div className={classes(styles.choices, columns.length > MANY && styles.long)}>
        {columns.map((column) => (
          <Checkbox
            key={column}
            label={named(names, column)}
            checked={key.includes(column)}
            onChange={() => toggle(column)}
          />
        ))}
      </div>
    </fieldset>
  );
}
