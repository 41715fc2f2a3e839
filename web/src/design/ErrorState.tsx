import { asProblem } from "../api/problem";
import { Button } from "./Button";
import { Icon } from "./Icon";
import styles from "./States.module.css";
import { sentence } from "./sentence";

/** What is not there does not come by asking again. */
const GONE = 404;

/** It did not work: what the server said, and a way to try again. */
export function ErrorState({
  error,
  retry,
  action = "Try again",
}: {
  error: unknown;
  retry?: (() => void) | undefined;
  /** What the button says. */
  action?: string;
}) {
  const problem = asProblem(error);
  return (
    <section className={styles.state} role="alert">
      <h2 className={styles.failed}>
        <Icon name="warn" /> {problem.title}
      </h2>
      <p>
        {sentence(problem.detail)}
        {problem.status === GONE && " It may have been deleted, or you do not have access."}
      </p>
      {retry && problem.status !== GONE && (
        <Button icon="repeat" onClick={retry}>
          {action}
        </Button>
      )}
    </section>
  );
}
