import { CopyButton } from "../../design";
import styles from "./Value.module.css";

/** A stored value: an object as a table, other values as text. Both can be copied. */
export function Value({ value }: { value: unknown }) {
  if (value === null || value === undefined) return <span className={styles.none}>none</span>;
  if (typeof value !== "object") return <span className={styles.plain}>{String(value)}</span>;
  const text = JSON.stringify(value, null, 2);
  return (
    <div className={styles.value}>
      {isTable(value) ? <Table of={value} /> : <Json text={text} />}
      <span className={styles.copy}>
        <CopyButton text={text} label="Copy as JSON" />
      </span>
    </div>
  );
}

function Table({ of }: { of: Record<string, unknown> }) {
  return (
    <dl className={styles.table}>
      {Object.entries(of).map(([name, value]) => (
        <div key={name} className={styles.row}>
          <dt>{name}</dt>
          <dd>
            {typeof value === "object" && value !== null ? (
              <ObjectValue value={value} />
            ) : (
              <ScalarValue value={value} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function ObjectValue({ value }: { value: object }) {
  return <Json text={JSON.stringify(value, null, 2)} />;
}

function Json({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <pre className={styles.json} tabIndex={0}>
      {text}
    </pre>
  );
}

function ScalarValue({ value }: { value: unknown }) {
  if (value === null) return <span className={styles.none}>null</span>;
  if (value === "") return <span className={styles.none}>empty</span>;
  const text = String(value);
  return /^https?:\/\//.test(text) ? (
    <a href={text} target="_blank" rel="noreferrer noopener">
      {text}
    </a>
  ) : (
    <span>{text}</span>
  );
}

function isTable(value: object): value is Record<string, unknown> {
  return !Array.isArray(value) && Object.keys(value).length > 0;
}
