import type { Preview } from "../../api";
import { counted, grouped, inLine } from "../../design";
import { type Draft, named } from "./model";
import styles from "./PreviewTable.module.css";

/** The first rows, under the new names of their columns. */
export function PreviewTable({ preview, names }: { preview: Preview; names: Draft["names"] }) {
  const { columns, rows, format, notes } = preview;
  return (
    <>
      <p className={styles.about}>
        Read as {format.toUpperCase()}: {counted(columns.length, "column")}.{" "}
        {rows.length === 1 ? "First row:" : `First ${grouped(rows.length)} rows:`}
      </p>
      {notes.map((note) => (
        <p key={note} className={styles.note}>
          {note}
        </p>
      ))}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <section className={styles.scroller} tabIndex={0} aria-label="First rows">
        <table className={styles.table}>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {named(names, column)}
                  {named(names, column) !== column && <small>{column} in the file</small>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name but their place
              <tr key={index}>
                {columns.map((column) => (
                  <td key={column}>{inLine(row[column])}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}
