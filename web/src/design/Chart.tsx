import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import styles from "./Chart.module.css";

export interface Series {
  label: string;
  /** The name of a design token: "--done". */
  colour: string;
  /** Formats a value for the legend. */
  format?: (value: number) => string;
  filled?: boolean;
  dashed?: boolean;
}

/** Lines over time. `data[0]` are seconds since 1970, then one list for each series. */
export function Chart({
  label,
  series,
  data,
  height = 160,
}: {
  /** A sentence with the current values, for screen readers. */
  label: string;
  /** Must keep its identity (module constant or useMemo). */
  series: readonly Series[];
  data: readonly (readonly (number | null)[])[];
  height?: number;
}) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(data);
  latest.current = data;

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const draw = () => {
      plot.current?.destroy();
      const width = element.clientWidth || 600;
      plot.current = new uPlot(options(series, width, height), aligned(latest.current), element);
    };
    draw();
    const resized = new ResizeObserver(() => {
      plot.current?.setSize({ width: element.clientWidth || 600, height });
    });
    resized.observe(element);
    // Colours are read when the chart is drawn, so a new theme needs a new drawing.
    const themed = new MutationObserver(draw);
    themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      resized.disconnect();
      themed.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [series, height]);

  useEffect(() => {
    plot.current?.setData(aligned(data));
  }, [data]);

  return (
    <figure className={styles.chart}>
      <div ref={box} aria-hidden="true" />
      <figcaption className="unseen">{label}</figcaption>
    </figure>
  );
}

function aligned(data: readonly (readonly (number | null)[])[]): uPlot.AlignedData {
  return data as unknown as uPlot.AlignedData;
}

/** The newest value: the legend shows it while the pointer is elsewhere. */
function lastOf(values: uPlot.AlignedData[number] | undefined): number | null {
  return values?.[values.length - 1] ?? null;
}

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "medium", hour12: false });

function clockTime(moment: number): string {
  return CLOCK.format(new Date(moment * 1000));
}

function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Drops tick labels beyond the end of the chart, where they would be cut. */
function inside(plot: uPlot, moments: number[]): (number | null)[] {
  const end = plot.scales.x?.max ?? Infinity;
  return moments.map((moment) => (moment <= end ? moment : null));
}

const SECONDS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200,
].concat([86_400, 172_800, 604_800, 2_592_000]);
const LEAST_SPAN_S = 10;

/** The visible time range: at least some seconds, so that the first readings have an axis. */
export function spanOf(_: unknown, first: number | null, last: number | null): [number, number] {
  const end = last ?? Date.now() / 1000;
  return [Math.min(first ?? end, end - LEAST_SPAN_S), end];
}

function options(series: readonly Series[], width: number, height: number): uPlot.Options {
  const axis: uPlot.Axis = {
    stroke: token("--muted"),
    grid: { stroke: token("--line"), width: 1 },
    ticks: { show: false },
    font: `11px ${token("--font")}`,
  };
  return {
    width,
    height,
    cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    legend: { live: true },
    padding: [8, 28, 0, 0],
    axes: [
      {
        ...axis,
        size: 24,
        space: 80,
        // Whole seconds: labels have no smaller unit and would repeat.
        incrs: SECONDS,
        grid: { ...axis.grid, filter: inside },
        filter: inside,
        values: (_, moments) => moments.map((at) => (at === null ? "" : clockTime(at))),
      },
      { ...axis, size: 44, space: 28 },
    ],
    scales: { x: { range: spanOf }, y: { range: (_, __, top) => [0, Math.max(top * 1.1, 1)] } },
    series: [
      {},
      ...series.map(({ label, colour, format, filled, dashed }) => ({
        label,
        stroke: token(colour),
        width: 1.5,
        points: { show: false },
        ...(filled ? { fill: `${token(colour)}33` } : {}),
        ...(dashed ? { dash: [4, 4] } : {}),
        value: (plot: uPlot, value: number | null, at: number, moment: number | null) => {
          const shown = moment === null ? lastOf(plot.data[at]) : value;
          return shown === null ? "–" : (format?.(shown) ?? String(shown));
        },
      })),
    ],
  };
}
