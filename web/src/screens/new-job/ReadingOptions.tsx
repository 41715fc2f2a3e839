import { Select } from "../../design";
import styles from "./Details.module.css";
import type { Reading } from "./draft";

const FORMATS = [
  { value: "", label: "As its name ends" },
  ...["csv", "tsv", "xlsx", "jsonl", "parquet", "list", "images"].map((value) => ({
    value,
    label: value === "list" ? "One value in each line" : value.toUpperCase(),
  })),
];

const DELIMITERS = [
  { value: "", label: "As the file shows" },
  { value: ",", label: "Comma" },
  { value: ";", label: "Semicolon" },
  { value: "\t", label: "Tab" },
  { value: "|", label: "Bar |" },
];

const ENCODINGS = [
  { value: "", label: "UTF-8, or as its first bytes say" },
  { value: "latin-1", label: "Latin-1 (Western Europe)" },
  { value: "cp1252", label: "Windows-1252" },
  { value: "cp1250", label: "Windows-1250 (Central Europe)" },
  { value: "cp1251", label: "Windows-1251 (Cyrillic)" },
  { value: "shift_jis", label: "Shift JIS" },
  { value: "gb18030", label: "GB 18030" },
];

/** How the file is read, for the case that its rows look wrong. */
export function ReadingOptions({
  read,
  sheets,
  onRead,
}: {
  read: Reading;
  sheets: readonly string[];
  onRead: (read: Reading) => void;
}) {
  const set = (name: keyof Reading) => (value: string) => {
    const { [name]: _, ...others } = read;
    onRead(value ? { ...others, [name]: value } : others);
  };
  return (
    <details className={styles.details}>
      <summary>The rows look wrong? Say how to read them</summary>
      <div className={styles.fields}>
        <Select
          label="Format"
          options={FORMATS}
          value={read.format ?? ""}
          onChoose={set("format")}
        />
        <Select
          label="Columns are parted by"
          options={DELIMITERS}
          value={read.delimiter ?? ""}
          onChoose={set("delimiter")}
        />
        <Select
          label="Letters are written in"
          options={ENCODINGS}
          value={read.encoding ?? ""}
          onChoose={set("encoding")}
        />
        {sheets.length > 1 && (
          <Select
            label="Sheet"
            options={[
              { value: "", label: "The first with rows" },
              ...sheets.map((sheet) => ({ value: sheet, label: sheet })),
            ]}
            value={read.sheet ?? ""}
            onChoose={set("sheet")}
          />
        )}
      </div>
    </details>
  );
}
