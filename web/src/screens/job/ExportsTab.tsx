import { useState } from "react";
import {
  asProblem,
  type Export,
  type ExportFormat,
  isInProgress,
  isUnfinished,
  type Job,
  useExports,
  useMay,
  useRequestExport,
  WRITTEN_FORMATS,
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

const FORMATS = Object.entries(WRITTEN_FORMATS).map(([value, label]) => ({ value, label }));

export function ExportsTab({ job }: { job: Job }) {
  const exports = useExports(job.id);
  const mayWrite = useMay("user");
  if (exports.error) {
    return <ErrorState error={exports.error} retry={() => void exports.refetch()} />;
  }
  if (!exports.data) return <Loading label="Loading exports" />;
  return (
    <>
      {mayWrite && <NewExport job={job} />}
      {exports.data.length === 0 ? (
        <EmptyState title="No exports yet">
          <p>
            An export is a file of all rows with their results. It is written in the background.
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

function NewExport({ job }: { job: Job }) {
  const [format, setFormat] = useState<ExportFormat>("xlsx");
  const [isRaw, setRaw] = useState(false);
  const ask = useRequestExport();
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
        options={FORMATS}
        value={format}
        onChoose={(value) => setFormat(value as ExportFormat)}
      />
      <Checkbox
        label="Keep formulas"
        hint="Off: cells that a spreadsheet would run, such as =…, are escaped."
        checked={isRaw}
        onChange={() => setRaw(!isRaw)}
      />
      <Button type="submit" variant="primary" icon="download" busy={ask.isPending}>
        Export {grouped(job.counts.total)} rows
      </Button>
      {isUnfinished(job) && (
        <p className={styles.note}>
          The job is not finished. The file will contain every row in its state at that time.
        </p>
      )}
    </form>
  );
}

function ExportLine({ each, total }: { each: Export; total: number }) {
  return (
    <li className={styles.line}>
      <div className={styles.head}>
        <strong>{WRITTEN_FORMATS[each.format as ExportFormat] ?? each.format}</strong>
        <StateOf each={each} />
        <span className={styles.muted}>
          {grouped(each.rows)} rows{each.size === null ? "" : `, ${bytes(each.size)}`} · requested
          by {each.askedBy} · <Time at={each.createdAt} />
        </span>
        {each.url && (
          <a href={each.url} download className={styles.download}>
            <Icon name="download" /> Download
          </a>
        )}
      </div>
      {isInProgress(each) && <ExportProgress rows={each.rows} total={total} />}
      {each.error && (
        <p role="alert" className={styles.problem}>
          {asProblem(new Error(each.error)).detail}
        </p>
      )}
      {each.sha256 && (
        <p className={styles.hash}>
          <span className={styles.muted}>Content hash</span> <code>{each.sha256}</code>
          <CopyButton text={each.sha256} label="Copy hash" />
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
          Writing…
        </Badge>
      );
    default:
      return (
        <Badge tone="pending" icon="circle">
          {each.state === "QUEUED" ? "Queued" : each.state}
        </Badge>
      );
  }
}

function ExportProgress({ rows, total }: { rows: number; total: number }) {
  return (
    <progress
      className={classes(styles.progress)}
      aria-label="Rows written"
      value={rows}
      max={Math.max(total, 1)}
    />
  );
}
