import { type ReactNode, useMemo } from "react";
import { type GatePoint, isUnfinished, type Job, useHandlers } from "../../../api";
import { duration, grouped, percent, perSecond } from "../../../design";
import { Chart, type Series } from "../../../design/Chart";
import { ChartsPlaceholder } from "./ChartsPlaceholder";
import styles from "./JobCharts.module.css";
import { figuresOf, gatesIn, type Point, throughputOf } from "./readings";
import { useReadings } from "./useReadings";

const HEIGHT = 104;

const OUTCOMES: readonly Series[] = [
  { label: "Done", colour: "--done", format: perSecondText, filled: true },
  { label: "Not found", colour: "--not-found", format: perSecondText, dashed: true },
  { label: "Errors", colour: "--error", format: perSecondText },
  { label: "Other", colour: "--review", format: perSecondText, dashed: true },
];

const COLOURS = ["--accent", "--processing", "--review", "--warn"] as const;

/** Throughput by outcome, and latency, rates and refusals of the providers. */
export function JobCharts({ job }: { job: Job }) {
  const { points, names, isLoading } = useReadings(job.id);
  const expected = useExpectedProviders(job);
  if (isLoading) return <ChartsPlaceholder />;
  if (points.length < 2) return <p className={styles.none}>{emptyReason(job)}</p>;
  return (
    <div className={styles.charts}>
      <Throughput points={points} rate={job.rate} />
      <Gates points={points} own={names.length > 0 ? names : expected} />
    </div>
  );
}

/** The provider that a job is going to use: its charts have a place before the first request. */
function useExpectedProviders({ state, handler }: Job): readonly string[] {
  const handlers = useHandlers().data;
  const provider = handlers?.find(({ name }) => name === handler)?.provider;
  return provider && isUnfinished({ state }) ? [provider] : [];
}

function emptyReason(job: Job): string {
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
    <TitledChart title="Items per second">
      <Chart
        label={`Items finished per second, by outcome. Over the last minute: ${perSecond(rate)}.`}
        series={series}
        data={data}
        height={HEIGHT}
      />
    </TitledChart>
  );
}

function Gates({ points, own }: { points: readonly Point[]; own: readonly string[] }) {
  const names = gatesIn(points, own).join("\n");
  const latencies = useLines(names, inMs);
  const limits = useLines(names, perSecondText);
  const shares = useLines(names, percentText);
  const now = points.at(-1)?.gates ?? [];
  if (!names) return null;
  const of = (figure: (gate: GatePoint) => number | null) =>
    figuresOf(points, names.split("\n"), figure);
  return (
    <>
      <TitledChart title="Latency (ms)">
        <Chart
          label={`Response time. ${perGate(now, (gate) => inMs((gate.latencyS ?? 0) * 1000))}`}
          series={latencies}
          data={of(({ latencyS }) => (latencyS === null ? null : latencyS * 1000))}
          height={HEIGHT}
        />
      </TitledChart>
      <TitledChart title="Allowed requests per second">
        <Chart
          label={`Allowed requests per second. ${perGate(now, (gate) => perSecond(gate.nowPerS))}`}
          series={limits}
          data={of(({ nowPerS }) => nowPerS)}
          height={HEIGHT}
        />
      </TitledChart>
      <TitledChart title="Throttled by the provider (%)">
        <Chart
          label={`Responses that asked to slow down. ${perGate(now, (gate) => percent(gate.refusedShare))}`}
          series={shares}
          data={of(({ refusedShare }) => refusedShare * 100)}
          height={HEIGHT}
        />
      </TitledChart>
    </>
  );
}

function TitledChart({ title, children }: { title: string; children: ReactNode }) {
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
function perSecondText(value: number): string {
  return `${value >= 100 ? grouped(Math.round(value)) : Number(value.toPrecision(2))}/s`;
}

function percentText(value: number): string {
  return percent(value / 100);
}

function inMs(value: number): string {
  return duration(value / 1000);
}
