import { Skeleton } from "../../../design";
import styles from "./ChartsPlace.module.css";

const CHARTS = ["throughput", "latency", "limit", "refusals"];

/** Holds the place of the charts, so that nothing below them moves when they come. */
export function ChartsPlace() {
  return (
    <div className={styles.place} role="status" aria-label="Loading charts">
      {CHARTS.map((chart) => (
        <Skeleton key={chart} width="100%" />
      ))}
    </div>
  );
}
