import styles from "./Skeleton.module.css";

/** Placeholder of a line that is loading. */
export function Skeleton({ width = "60%" }: { width?: string | number }) {
  return <span className={styles.skeleton} style={{ width }} aria-hidden="true" />;
}

const WIDTHS = ["62%", "88%", "45%", "73%", "94%", "57%", "81%", "50%"];

/** Placeholder of a screen or panel that is loading; announced to screen readers. */
export function Loading({ lines = 6, label = "Loading" }: { lines?: number; label?: string }) {
  return (
    <div className={styles.lines} role="status" aria-label={label}>
      {WIDTHS.slice(0, lines).map((width) => (
        <Skeleton key={width} width={width} />
      ))}
    </div>
  );
}
