import type { ReactNode } from "react";
import { type Job, useMay, usePrioritise } from "../../api";
import { Command, CopyButton, grouped, Panel, Select, Time, useToasts } from "../../design";
import { Value } from "../item/Value";
import styles from "./ConfigurationTab.module.css";

/** What a job was made from, and how it is set. Secrets are masked by the server. */
export function ConfigurationTab({ job }: { job: Job }) {
  return (
    <div className={styles.panels}>
      <Panel title="The job">
        <dl className={styles.facts}>
          <Row name="Id">
            {job.id} <CopyButton text={job.id} label="Copy the id" />
          </Row>
          <Row name="Owner">{job.owner}</Row>
          <Row name="Type">{job.handler}</Row>
          <Row name="Key columns">{job.keyColumns.join(", ") || "none: the whole row"}</Row>
          <Row name="Columns">{job.columns.join(", ") || "–"}</Row>
          <Row name="Share">
            <Priority job={job} />
          </Row>
          <Row name="Starts">
            {job.eager ? "while the source is still read" : "once the source is read"}
          </Row>
          {job.open && <Row name="Queue">It is open: it takes items until it is closed.</Row>}
          <Row name="Made">
            <Time at={job.createdAt} />
          </Row>
          <Row name="Began">
            <Time at={job.startedAt} />
          </Row>
          <Row name="Ended">
            <Time at={job.finishedAt} />
          </Row>
        </dl>
      </Panel>
      <Panel title="Its source">
        <dl className={styles.facts}>
          <Row name="File">{job.file || "–"}</Row>
          <Row name="Source">{job.source || "–"}</Row>
          <Row name="Sent from">{job.client || "–"}</Row>
          <Row name="Read">{job.ingestComplete ? "to its end" : "not to its end yet"}</Row>
          <Row name="Fingerprint">
            <code>{job.fingerprint || "–"}</code>
          </Row>
          {Object.entries(job.ingest).map(([name, value]) => (
            <Row key={name} name={`Reading: ${name}`}>
              {typeof value === "number" ? grouped(value) : <Value value={value} />}
            </Row>
          ))}
        </dl>
      </Panel>
      <Panel title="Configuration of the handler">
        {Object.keys(job.config).length ? (
          <Value value={job.config} />
        ) : (
          <p className={styles.muted}>None: the handler runs with its own defaults.</p>
        )}
      </Panel>
      <Panel title="The same on the command line">
        <Command>{`headgate jobs show ${job.id}`}</Command>
        <Command>{`headgate export ${job.id} results.csv`}</Command>
      </Panel>
    </div>
  );
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

const SHARES = Array.from({ length: 21 }, (_, index) => 10 - index).map((value) => ({
  value: String(value),
  label: shareOf(value),
}));

/** Each step doubles a job's share among its owner's jobs. */
export function shareOf(priority: number): string {
  if (priority === 0) return "as much as the others";
  const times = grouped(2 ** Math.abs(priority));
  return priority > 0
    ? `${times} times as much (+${priority})`
    : `1/${times} as much (${priority})`;
}

function Priority({ job }: { job: Job }) {
  const mayWrite = useMay("user");
  const prioritise = usePrioritise();
  const toasts = useToasts();
  if (!mayWrite) return <>{shareOf(job.priority)}</>;
  return (
    <Select
      label="Share among its owner's jobs"
      hideLabel
      options={SHARES}
      value={String(job.priority)}
      disabled={prioritise.isPending}
      onChoose={(value) =>
        prioritise.mutate(
          { id: job.id, priority: Number(value) },
          {
            onSuccess: ({ priority }) => toasts.say(`The job gets ${shareOf(priority)}.`),
            onError: toasts.fail,
          },
        )
      }
    />
  );
}
