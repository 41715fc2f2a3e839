import { READ_FORMATS } from "../../api";
import { Select } from "../../design";
import styles from "./Details.module.css";
import type { Reading } from "./model";
import { ENCODINGS } from "./settings";

const FORMATS = [
  { value: "", label: "From file extension" },
  ...Object.entries(READ_FORMATS).map(([value, label]) => ({ value, label })),
];

const DELIMITERS = [
  { value: "", label: "Auto-detect" },
  { value: ",", label: "Comma" },
  { value: ";", label: "Semicolon" },
  { value: "\t", label: "Tab" },
  { value: "|", label: "Pipe |" },
];

/** Import settings: format, delimiter, encoding, sheet. */
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
      <summary>Import settings</summary>
      <div className={styles.fields}>
        <Select
          label="Format"
          options={FORMATS}
          value={read.format ?? ""}
          onChoose={set("format")}
        />
        <Select
          label="Delimiter"
          options={DELIMITERS}
          value={read.delimiter ?? ""}
          onChoose={set("delimiter")}
        />
        <Select
          label="Encoding"
          options={ENCODINGS}
          value={read.encoding ?? ""}
          onChoose={set("encoding")}
        />
        {sheets.length > 1 && (
          <Select
            label="Sheet"
            options={[
              { value: "", label: "First sheet with rows" },
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
