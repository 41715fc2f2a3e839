import { Skeleton } from "../../../design";
import styles from "./ChartsPlaceholder.module.css";

const CHARTS = ["throughput", "latency", "limit", "refusals"];

/** Placeholder of the charts, so that nothing below them moves when they load. */
export function ChartsPlaceholder() {
  return (
    <div className={styles.place} role="status" aria-label="Loading charts">
      {CHARTS.map((chart) => (
        <Skeleton key={chart} width="100%" />
      ))}
    </div>
  );
}
