import { useMemo } from "react";
import { grouped } from "../../design";
import { Chart, type Series } from "../../design/Chart";
import type { Sample } from "./model";

const SERIES: readonly Series[] = [
  { label: "Queue depth", colour: "--accent", format: grouped, filled: true },
];

/** Queue depth while the screen is open. */
export default function DepthChart({ samples }: { samples: readonly Sample[] }) {
  const data = useMemo(
    () => [samples.map(({ at }) => at), samples.map(({ depth }) => depth)],
    [samples],
  );
  const last = samples.at(-1)?.depth ?? 0;
  return (
    <Chart label={`Queue depth over time, now ${grouped(last)}`} series={SERIES} data={data} />
  );
}
