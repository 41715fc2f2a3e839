import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { createFromFiles, createFromSource, keys } from "../../api";
import { bodyOf, type Draft, fieldsOf } from "./draft";

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
