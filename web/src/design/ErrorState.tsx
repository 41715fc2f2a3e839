import { asProblem } from "../api/problem";
import { Button } from "./Button";
import { Icon } from "./Icon";
import styles from "./States.module.css";
import { sentence } from "./sentence";

/** What is not there does not come by asking again. */
const GONE = 404;

/** It did not work: what the server said, and a way to try again. */
export function ErrorState({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const problem = asProblem(error);
  return (
    <section className={styles.state} role="alert">
      <h2 className={styles.failed}>
        <Icon name="warn" /> {problem.title}
      </h2>
      <p>{sentence(problem.detail)}</p>
      {retry && problem.status !== GONE && (
        <Button icon="repeat" onClick={retry}>
          Try again
        </Button>
      )}
    </section>
  );
}
