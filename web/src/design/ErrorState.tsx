import { asProblem } from "../api/problem";
import { Button } from "./Button";
import { Icon } from "./Icon";
import styles from "./States.module.css";
import { sentence } from "./sentence";

const GONE = 404;

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
        {problem.status === GONE && " It may have been deleted, or you don’t have access."}
      </p>
      {retry && problem.status !== GONE && (
        <Button icon="repeat" onClick={retry}>
          {action}
        </Button>
      )}
    </section>
  );
}
