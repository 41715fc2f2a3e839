import type { ReactNode } from "react";
import { asProblem } from "../api/problem";
import { Button } from "./Button";
import { sentence } from "./format";
import { Icon } from "./Icon";
import styles from "./States.module.css";

/** Shown instead of missing data: why, and what to do. */
export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <section className={styles.state}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

const NOT_FOUND = 404;

/** Headings for the status phrases that the API uses as titles. Other titles are shown as they are. */
const HEADINGS: Readonly<Record<string, string>> = {
  Unauthorized: "Not logged in",
  Forbidden: "Not allowed",
  "Not Found": "Not found",
  Conflict: "Not possible now",
  "Content Too Large": "Too large",
  "Unprocessable Content": "Invalid input",
  "Too Many Requests": "Too many requests",
  "Internal Server Error": "Internal error",
  "Service Unavailable": "Temporarily unavailable",
  "Insufficient Storage": "Disk full",
};

/** Shows a problem, and a button to try again. Trying again does not help against a 404. */
export function ErrorState({
  error,
  retry,
  action = "Try again",
}: {
  error: unknown;
  retry?: (() => void) | undefined;
  action?: string;
}) {
  const problem = asProblem(error);
  return (
    <section className={styles.state} role="alert">
      <h2 className={styles.failed}>
        <Icon name="warn" /> {HEADINGS[problem.title] ?? problem.title}
      </h2>
      <p>
        {sentence(problem.detail)}
        {problem.status === NOT_FOUND && " It may have been deleted, or you don’t have access."}
      </p>
      {retry && problem.status !== NOT_FOUND && (
        <Button icon="repeat" onClick={retry}>
          {action}
        </Button>
      )}
    </section>
  );
}

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
