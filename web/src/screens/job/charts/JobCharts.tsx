import { type ReactNode, useMemo } from "react";
import { type GatePoint, isUnfinished, type Job, useHandlers } from "../../../api";
import { duration, grouped, percent, perSecond } from "../../../design";
import { Chart, type Series } from "../../../design/Chart";
import { ChartsPlace } from "./ChartsPlace";
import styles from "./JobCharts.module.css";
import { figuresOf, gatesIn, type Point, throughputOf } from "./readings";
import { useReadings } from "./useReadings";

const HEIGHT = 104;

const OUTCOMES: readonly Series[] = [
  { label: "Done", colour: "--done", format: aSecond, filled: true },
  { label: "Not found", colour: "--not-found", format: aSecond, dashed: true },
  { label: "Errors", colour: "--error", format: aSecond },
  { label: "Other", colour: "--review", format: aSecond, dashed: true },
];

const COLOURS = ["--accent", "--processing", "--review", "--warn"] as const;

/** Throughput by outcome, and latency, rates and refusals of the providers. */
export function JobCharts({ job }: { job: Job }) {
  const { points, names, isLoading } = useReadings(job.id);
  const expected = useExpected(job);
  if (isLoading) return <ChartsPlace />;
  if (points.length < 2) return <p className={styles.none}>{whyNone(job)}</p>;
  return (
    <div className={styles.charts}>
      <Throughput points={points} rate={job.rate} />
      <Gates points={points} own={names.length > 0 ? names : expected} />
    </div>
  );
}

/** The provider that a job is going to use: its charts have a place before the first request. */
function useExpected({ state, handler }: Job): readonly string[] {
  const handlers = useHandlers().data;
  const provider = handlers?.find(({ name }) => name === handler)?.provider;
  return provider && isUnfinished({ state }) ? [provider] : [];
}

function whyNone(job: Job): string {
  return isUnfinished(job) ? "Collecting data…" : "No chart data for this job.";
}

function Throughput({ points, rate }: { points: readonly Point[]; rate: number | null }) {
  const all = useMemo(() => throughputOf(points), [points]);
  // No line for an outcome that never occurred.
  const seen = all
    .map((values, column) => (column < 2 || values.some((value) => value) ? column : -1))
    .filter((column) => column >= 0);
  const names = seen.join();
  const series = useMemo(
    () => OUTCOMES.filter((_, column) => names.split(",").includes(String(column + 1))),
    [names],
  );
  const data = useMemo(
    () => all.filter((_, column) => names.split(",").includes(String(column))),
    [all, names],
  );
  return (
    <Titled title="Items per second">
      <Chart
        label={`Items finished per second, by outcome. Over the last minute: ${perSecond(rate)}.`}
        series={series}
        data={data}
        height={HEIGHT}
      />
    </Titled>
  );
}

function Gates({ points, own }: { points: readonly Point[]; own: readonly string[] }) {
  const names = gatesIn(points, own).join("\n");
  const latencies = useLines(names, inMs);
  const limits = useLines(names, aSecond);
  const shares = useLines(names, ofHundred);
  const now = points.at(-1)?.gates ?? [];
  if (!names) return null;
  const of = (figure: (gate: GatePoint) => number | null) =>
    figuresOf(points, names.split("\n"), figure);
  return (
    <>
      <Titled title="Latency (ms)">
        <Chart
          label={`Response time. ${perGate(now, (gate) => inMs((gate.latencyS ?? 0) * 1000))}`}
          series={latencies}
          data={of(({ latencyS }) => (latencyS === null ? null : latencyS * 1000))}
          height={HEIGHT}
        />
      </Titled>
      <Titled title="Allowed requests per second">
        <Chart
          label={`Allowed requests per second. ${perGate(now, (gate) => perSecond(gate.nowPerS))}`}
          series={limits}
          data={of(({ nowPerS }) => nowPerS)}
          height={HEIGHT}
        />
      </Titled>
      <Titled title="Throttled by the provider (%)">
        <Chart
          label={`Responses that asked to slow down. ${perGate(now, (gate) => percent(gate.refusedShare))}`}
          series={shares}
          data={of(({ refusedShare }) => refusedShare * 100)}
          height={HEIGHT}
        />
      </Titled>
    </>
  );
}

function Titled({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.one}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function useLines(names: string, say: (value: number) => string): readonly Series[] {
  return useMemo(
    () =>
      names.split("\n").map((label, index) => ({
        label,
        colour: COLOURS[index % COLOURS.length] ?? "--accent",
        format: say,
        dashed: index % 2 === 1,
      })),
    [names, say],
  );
}

function perGate(gates: readonly GatePoint[], say: (gate: GatePoint) => string): string {
  return gates.map((gate) => `${gate.name}: ${say(gate)}.`).join(" ");
}

/** Always per second, like the axis. */
function aSecond(value: number): string {
  return `${value >= 100 ? grouped(Math.round(value)) : Number(value.toPrecision(2))}/s`;
}

function ofHundred(value: number): string {
  return percent(value / 100);
}

function inMs(value: number): string {
  return duration(value / 1000);
}
