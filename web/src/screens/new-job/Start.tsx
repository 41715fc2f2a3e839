import { useNavigate } from "@tanstack/react-router";
import { asProblem, type Handler, type Preview } from "../../api";
import { Button, percent, sentence } from "../../design";
import { blockers, type Draft } from "./draft";
import styles from "./Start.module.css";
import { useStart } from "./useStart";

/** The start button, or what is still missing. */
export function Start({
  draft,
  preview,
  handler,
  onStarted,
}: {
  draft: Draft;
  preview: Preview | undefined;
  handler: Handler | undefined;
  /** Called when the job is created: the page may be left. */
  onStarted: () => void;
}) {
  const navigate = useNavigate();
  const { start, share, error, isBusy } = useStart(draft, (jobId) => {
    onStarted();
    void navigate({ to: "/jobs/$jobId", params: { jobId } });
  });
  const left = blockers(draft, preview, handler);
  return (
    <section className={styles.start} aria-label="Start">
      <Button
        variant="primary"
        icon="play"
        busy={isBusy}
        disabled={left.length > 0}
        onClick={() => start()}
      >
        Start job
      </Button>
      {isBusy && (
        <div role="status" className={styles.sending}>
          <progress value={share} aria-label="Uploaded" />
          {share < 1 ? `${percent(share)} uploaded` : "Uploaded – validating…"}
        </div>
      )}
      {!isBusy && left.length > 0 && (
        <div className={styles.left}>
          <p>To start:</p>
          <ul>
            {left.map((each) => (
              <li key={each}>{each}</li>
            ))}
          </ul>
        </div>
      )}
      {error && !isBusy && (
        <p role="alert" className={styles.problem}>
          {sentence(asProblem(error).detail)}
        </p>
      )}
    </section>
  );
}
