import { useState } from "react";
import {
  asProblem,
  EXPORT_FORMATS,
  type Export,
  type ExportFormat,
  isBeingMade,
  isUnfinished,
  type Job,
  useAskExport,
  useExports,
  useMay,
} from "../../api";
import {
  Badge,
  Button,
  bytes,
  Checkbox,
  CopyButton,
  classes,
  EmptyState,
  ErrorState,
  grouped,
  Icon,
  Loading,
  Select,
  Time,
  useToasts,
} from "../../design";
import styles from "./ExportsTab.module.css";

const FORMATS: Record<ExportFormat, string> = {
  xlsx: "Excel (xlsx)",
  csv: "CSV",
  tsv: "Tab-separated (tsv)",
  jsonl: "JSON lines",
  parquet: "Parquet",
};

/** Files of a job's rows: ask for one, watch it being made, fetch it. */
export function ExportsTab({ job }: { job: Job }) {
  const exports = useExports(job.id);
  const mayWrite = useMay("user");
  if (exports.error) {
    return <ErrorState error={exports.error} retry={() => void exports.refetch()} />;
  }
  if (!exports.data) return <Loading label="Loading the exports" />;
  return (
    <>
      {mayWrite && <AskForOne job={job} />}
      {exports.data.length === 0 ? (
        <EmptyState title="No exports yet">
          <p>
            An export is a file of all rows with their outcome, made from the database in the
            background.
          </p>
        </EmptyState>
      ) : (
        <ul className={styles.list} aria-label="Exports, newest first">
          {exports.data.map((each) => (
            <ExportLine key={each.id} each={each} total={job.counts.total} />
          ))}
        </ul>
      )}
    </>
  );
}

function AskForOne({ job }: { job: Job }) {
  const [format, setFormat] = useState<ExportFormat>("xlsx");
  const [isRaw, setRaw] = useState(false);
  const ask = useAskExport();
  const toasts = useToasts();
  return (
    <form
      className={styles.ask}
      onSubmit={(event) => {
        event.preventDefault();
        ask.mutate(
          { jobId: job.id, format, formulas: isRaw ? "raw" : "neutral" },
          { onError: toasts.fail },
        );
      }}
    >
      <Select
        label="Format"
        options={EXPORT_FORMATS.map((value) => ({ value, label: FORMATS[value] }))}
        value={format}
        onChoose={(value) => setFormat(value as ExportFormat)}
      />
      <Checkbox
        label="Leave formulas as they are"
        hint="Otherwise cells that a spreadsheet would run get a quote in front."
        checked={isRaw}
        onChange={() => setRaw(!isRaw)}
      />
      <Button type="submit" look="primary" icon="download" busy={ask.isPending}>
        Export {grouped(job.counts.total)} rows
      </Button>
      {isUnfinished(job) && (
        <p className={styles.note}>
          The job is not finished: the file has every row, as it stands when it is made.
        </p>
      )}
    </form>
  );
}

function ExportLine({ each, total }: { each: Export; total: number }) {
  return (
    <li className={styles.line}>
      <div className={styles.head}>
        <strong>{FORMATS[each.format as ExportFormat] ?? each.format}</strong>
        <StateOf each={each} />
        <span className={styles.muted}>
          {grouped(each.rows)} rows{each.size === null ? "" : `, ${bytes(each.size)}`} · asked by{" "}
          {each.askedBy} · <Time at={each.createdAt} />
        </span>
        {each.url && (
          <a href={each.url} download className={styles.download}>
            <Icon name="download" /> Download
          </a>
        )}
      </div>
      {isBeingMade(each) && <Making rows={each.rows} total={total} />}
      {each.error && (
        <p role="alert" className={styles.problem}>
          {asProblem(new Error(each.error)).detail}
        </p>
      )}
      {each.sha256 && (
        <p className={styles.hash}>
          <span className={styles.muted}>SHA-256 of the values</span> <code>{each.sha256}</code>
          <CopyButton text={each.sha256} label="Copy the hash" />
        </p>
      )}
    </li>
  );
}

function StateOf({ each }: { each: Export }) {
  switch (each.state) {
    case "DONE":
      return (
        <Badge tone="done" icon="check">
          Ready
        </Badge>
      );
    case "FAILED":
      return (
        <Badge tone="error" icon="cross">
          Failed
        </Badge>
      );
    case "RUNNING":
      return (
        <Badge tone="processing" icon="half">
          Being made
        </Badge>
      );
    default:
      return (
        <Badge tone="pending" icon="circle">
          {each.state === "QUEUED" ? "Waits its turn" : each.state}
        </Badge>
      );
  }
}

function Making({ rows, total }: { rows: number; total: number }) {
  return (
    <progress
      className={classes(styles.progress)}
      aria-label="Rows written"
      value={rows}
      max={Math.max(total, 1)}
    />
  );
}
