import { asProblem } from "../api/problem";
import { Button } from "./Button";
import { Icon } from "./Icon";
import styles from "./States.module.css";

/** It did not work: what the server said, and a way to try again. */
export function ErrorState({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const problem = asProblem(error);
  return (
    <section className={styles.state} role="alert">
      <h2 className={styles.failed}>
        <Icon name="warn" /> {problem.title}
      </h2>
      <p>{problem.detail}</p>
      {retry && (
        <Button icon="repeat" onClick={retry}>
          Try again
        </Button>
      )}
    </section>
  );
}
