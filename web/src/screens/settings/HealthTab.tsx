import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { type Health, type System, useHealth, useSystem } from "../../api";
import {
  bytes,
  classes,
  counted,
  ErrorState,
  Fact,
  Facts,
  grouped,
  Icon,
  Loading,
  Panel,
  percent,
  perSecond,
} from "../../design";
import { Cause } from "../jobs/Cause";
import styles from "./HealthTab.module.css";
import {
  FEWEST_SAMPLES,
  healthInWords,
  partInWords,
  type Sample,
  schemaInWords,
  trendOf,
  withSample,
} from "./model";
import { Tile, Tiles } from "./Tiles";

const EVERY_MS = 5_000;
const DepthChart = lazy(() => import("./DepthChart"));
const TRENDS = {
  grows: "growing: consider more workers",
  shrinks: "shrinking",
  steady: "steady",
};

/** Health of the service: progress, queue, database, sweeper. */
export function HealthTab() {
  const health = useHealth({ everyMs: EVERY_MS });
  const system = useSystem({ everyMs: EVERY_MS });
  const samples = useSamples(system.data, system.dataUpdatedAt);
  if (!system.data) {
    return system.error ? (
      <ErrorState error={system.error} retry={() => void system.refetch()} />
    ) : (
      <Loading label="Loading health" />
    );
  }
  return (
    <div className={styles.health}>
      {health.data && <HealthSummary health={health.data} slow={system.data.slowJobs} />}
      <Queue queue={system.data.queue} samples={samples} />
      <div className={styles.panels}>
        <Database database={system.data.database} />
        <Sweeper sweeper={system.data.sweeper} />
        <Parts system={system.data} />
      </div>
    </div>
  );
}

/** Queue depth while the screen is open. */
function useSamples(system: System | undefined, atMs: number): readonly Sample[] {
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  if (!system) return samples;
  const next = withSample(samples, { at: atMs / 1000, depth: system.queue.counts.pending });
  if (next !== samples) setSamples(next);
  return next;
}

function HealthSummary({ health, slow }: { health: Health; slow: System["slowJobs"] }) {
  const { title, todo } = healthInWords(health);
  const isWell = health.status === "ok";
  return (
    <section className={classes(styles.verdict, !isWell && styles.unwell)} role="status">
      <Icon name={isWell ? "check" : "warn"} />
      <div>
        <h2>{title}</h2>
        <p>{todo}</p>
        {slow.map(({ jobId, name, limitedBy }) => (
          <p key={jobId}>
            <Link to="/jobs/$jobId" params={{ jobId }}>
              {name || `Job ${jobId}`}
            </Link>
            {limitedBy && (
              <>
                : <Cause wait={limitedBy} />
              </>
            )}
          </p>
        ))}
      </div>
      <Link to="/workers">{counted(health.workers, "worker")}</Link>
    </section>
  );
}

function Queue({ queue, samples }: { queue: System["queue"]; samples: readonly Sample[] }) {
  const { counts, perSecond: rate, errorShare } = queue;
  const trend = trendOf(samples);
  return (
    <>
      <Tiles>
        <Tile
          name="Queue depth"
          value={grouped(counts.pending)}
          note={trend ? TRENDS[trend] : "pending items"}
          isBad={trend === "grows"}
        />
        <Tile name="Running" value={grouped(counts.processing)} note="items held by workers" />
        <Tile name="Throughput" value={perSecond(rate)} note="finished items, last seconds" />
        <Tile
          name="Error rate"
          value={errorShare === null ? "–" : percent(errorShare)}
          note={<Link to="/dead-letters">{counted(counts.error, "dead letter")}</Link>}
        />
      </Tiles>
      <Panel title="Queue depth (live)">
        {samples.length < FEWEST_SAMPLES ? (
          <p>Collecting data…</p>
        ) : (
          <Suspense fallback={<Loading lines={3} />}>
            <DepthChart samples={samples} />
          </Suspense>
        )}
      </Panel>
    </>
  );
}

function Database({ database }: { database: System["database"] }) {
  return (
    <Panel title="Database">
      <Facts>
        <Fact name="Type">
          {database.kind} {database.version}
        </Fact>
        <Fact name="Location">{database.location}</Fact>
        <Fact name="Size">{bytes(database.sizeBytes)}</Fact>
        <Fact name="Schema version">{schemaInWords(database)}</Fact>
        <Fact name="Content">
          {counted(database.items, "item")} in {counted(database.jobs, "job")}
        </Fact>
      </Facts>
    </Panel>
  );
}

function Parts({ system: { loops, logLinesLost } }: { system: System }) {
  return (
    <Panel title="Server processes">
      <Facts>
        {loops.map((part) => (
          <Fact key={part.name} name={part.name}>
            {part.alive ? (
              partInWords(part)
            ) : (
              <span className={styles.missing}>
                <Icon name="warn" size={14} /> {partInWords(part)}
              </span>
            )}
          </Fact>
        ))}
        <Fact name="Log lines lost">{grouped(logLinesLost)}</Fact>
      </Facts>
    </Panel>
  );
}

function Sweeper({ sweeper }: { sweeper: System["sweeper"] }) {
  return (
    <Panel title="Sweeper">
      <p>Housekeeping: recovers stalled work and deletes old records.</p>
      <Facts>
        <Fact name="Runs in">
          {sweeper.holder ?? (
            <span className={styles.missing}>
              <Icon name="warn" size={14} /> Not running. It starts with a worker.
            </span>
          )}
        </Fact>
        <Fact name="Retention">{counted(sweeper.retentionDays, "day")}</Fact>
        <Fact name="Metrics">
          <a href="/metrics">/metrics</a>, for Prometheus
        </Fact>
      </Facts>
    </Panel>
  );
}
