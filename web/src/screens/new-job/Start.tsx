import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useState } from "react";
import {
  asProblem,
  createFromFiles,
  createFromSource,
  type Handler,
  keys,
  type Preview,
} from "../../api";
import { Button, percent, sentence } from "../../design";
import { blockers, bodyOf, type Draft, fieldsOf } from "./model";
import styles from "./Start.module.css";

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

/** Creates the job of a draft, and reports the upload progress. */
export function useStart(draft: Draft, onMade: (jobId: string) => void) {
  const queries = useQueryClient();
  const [share, setShare] = useState(0);
  // Sending a draft again, for example after a lost response, does not create a second job.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a changed draft is another job
  const once = useMemo(newKey, [draft]);
  const made = useMutation({
    mutationFn: () => {
      setShare(0);
      if (draft.files.length === 0) return createFromSource(bodyOf(draft), once);
      return createFromFiles(draft.files, fieldsOf(draft), { once, sent: setShare });
    },
    onSuccess: (jobId) => {
      void queries.invalidateQueries({ queryKey: keys.jobs });
      onMade(jobId);
    },
  });
  useWarning(made.isPending);
  return { start: made.mutate, share, error: made.error, isBusy: made.isPending };
}

function newKey(): string {
  // crypto.randomUUID is missing on pages served over plain HTTP.
  const numbers = crypto.getRandomValues(new Uint32Array(4));
  return [...numbers].map((each) => each.toString(16).padStart(8, "0")).join("");
}

/** Asks before the user leaves during an upload. */
function useWarning(isBusy: boolean) {
  useEffect(() => {
    if (!isBusy) return;
    const warn = (event: Event) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [isBusy]);
}
