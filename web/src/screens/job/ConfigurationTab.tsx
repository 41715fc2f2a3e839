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
import { readingOf } from "./model";

/** Source and settings of a job. The server masks secrets. */
export function ConfigurationTab({ job }: { job: Job }) {
  return (
    <div className={styles.panels}>
      <Panel title="Job">
        <Facts>
          <Fact name="Id">
            {job.id} <CopyButton text={job.id} label="Copy id" />
          </Fact>
          <Fact name="Owner">{job.owner}</Fact>
          <Fact name="Type">{job.handler}</Fact>
          <Fact name="Key columns">{job.keyColumns.join(", ") || "None (the whole row)"}</Fact>
          <Fact name="Columns">{job.columns.join(", ") || "–"}</Fact>
          <Fact name="Priority">
            <Priority job={job} />
          </Fact>
          <Fact name="Starts">
            {job.eager ? "While the source is being read" : "After the whole source is read"}
          </Fact>
          {job.open && <Fact name="Queue">Open: accepts items until it is closed.</Fact>}
          <Fact name="Created">
            <Time at={job.createdAt} />
          </Fact>
          <Fact name="Started">
            <Time at={job.startedAt} />
          </Fact>
          <Fact name="Ended">
            <Time at={job.finishedAt} />
          </Fact>
        </Facts>
      </Panel>
      <Panel title="Source">
        <Facts>
          <Fact name="File">{job.file || "–"}</Fact>
          <Fact name="Source">{job.source || "–"}</Fact>
          <Fact name="Uploaded from">{job.client || "–"}</Fact>
          <Fact name="Read">{job.ingestComplete ? "Complete" : "In progress"}</Fact>
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
      <Panel title="Handler configuration">
        {Object.keys(job.config ?? {}).length ? (
          <Value value={job.config} />
        ) : (
          <p className={styles.muted}>None. The handler uses its defaults.</p>
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

/** Each step doubles the share among the owner's jobs. */
export function shareOf(priority: number): string {
  if (priority === 0) return "Normal";
  const times = grouped(2 ** Math.abs(priority));
  return priority > 0 ? `${times}× (+${priority})` : `1/${times}× (${priority})`;
}

function Priority({ job }: { job: Job }) {
  const mayWrite = useMay("user");
  const prioritise = usePrioritise();
  const toasts = useToasts();
  if (!mayWrite) return <>{shareOf(job.priority)}</>;
  return (
    <Select
      label="Priority among the owner’s jobs"
      hideLabel
      options={SHARES}
      value={String(job.priority)}
      disabled={prioritise.isPending}
      onChoose={(value) =>
        prioritise.mutate(
          { id: job.id, priority: Number(value) },
          {
            onSuccess: ({ priority }) => toasts.success(`Priority set to ${shareOf(priority)}.`),
            onError: toasts.fail,
          },
        )
      }
    />
  );
}
