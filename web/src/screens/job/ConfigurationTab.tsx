import { type Job, useMay, usePrioritise } from "../../api";
import {
  Command,
  CopyButton,
  Fact,
  Facts,
  grouped,
  Panel,
  Select,
  Time,
  useToasts,
} from "../../design";
import { Value } from "../item/Value";
import styles from "./ConfigurationTab.module.css";
import { readingOf } from "./reading";

/** What a job was made from, and how it is set. Secrets are masked by the server. */
export function ConfigurationTab({ job }: { job: Job }) {
  return (
    <div className={styles.panels}>
      <Panel title="The job">
        <Facts>
          <Fact name="Id">
            {job.id} <CopyButton text={job.id} label="Copy the id" />
          </Fact>
          <Fact name="Owner">{job.owner}</Fact>
          <Fact name="Type">{job.handler}</Fact>
          <Fact name="Key columns">{job.keyColumns.join(", ") || "none: the whole row"}</Fact>
          <Fact name="Columns">{job.columns.join(", ") || "–"}</Fact>
          <Fact name="Share">
            <Priority job={job} />
          </Fact>
          <Fact name="Starts">
            {job.eager ? "while the source is still read" : "once the source is read"}
          </Fact>
          {job.open && <Fact name="Queue">It is open: it takes items until it is closed.</Fact>}
          <Fact name="Made">
            <Time at={job.createdAt} />
          </Fact>
          <Fact name="Began">
            <Time at={job.startedAt} />
          </Fact>
          <Fact name="Ended">
            <Time at={job.finishedAt} />
          </Fact>
        </Facts>
      </Panel>
      <Panel title="Its source">
        <Facts>
          <Fact name="File">{job.file || "–"}</Fact>
          <Fact name="Source">{job.source || "–"}</Fact>
          <Fact name="Sent from">{job.client || "–"}</Fact>
          <Fact name="Read">{job.ingestComplete ? "to its end" : "not to its end yet"}</Fact>
          {job.fingerprint && (
            <Fact name="Fingerprint">
              <code>{job.fingerprint}</code>
            </Fact>
          )}
          {readingOf(job.ingest).map(({ name, words }) => (
            <Fact key={name} name={name}>
              {words}
            </Fact>
          ))}
        </Facts>
      </Panel>
      <Panel title="Configuration of the handler">
        {Object.keys(job.config ?? {}).length ? (
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
