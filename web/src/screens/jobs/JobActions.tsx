import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type Job, type JobMove, mayMove, settled, useMoveJob, useRequestExport } from "../../api";
import { Menu, type MenuItem, useToasts } from "../../design";
import { ReprocessJob } from "../reprocess/ReprocessJob";
import { CancelJob, DeleteJob } from "./JobDialogs";

type OpenDialog = "cancel" | "reprocess" | "delete";

/** The actions that the state of a job allows, and their confirmations. */
export function JobActions({
  job,
  label,
  onDeleted,
}: {
  job: Job;
  label?: string;
  onDeleted?: () => void;
}) {
  const [asked, setAsked] = useState<OpenDialog | null>(null);
  const items = useActions(job, setAsked);
  const close = () => setAsked(null);
  return (
    <>
      <Menu
        label={`Actions for ${job.name || `job ${job.id}`}`}
        items={items}
        {...(label ? { button: { children: label, icon: "chevronDown", variant: "plain" } } : {})}
      />
      {asked === "cancel" && <CancelJob job={job} onClose={close} />}
      {asked === "reprocess" && <ReprocessJob job={job} onClose={close} />}
      {asked === "delete" && (
        <DeleteJob job={job} onClose={close} {...(onDeleted ? { onDeleted } : {})} />
      )}
    </>
  );
}

function useActions(job: Job, ask: (question: OpenDialog) => void): MenuItem[] {
  const toasts = useToasts();
  const move = useMoveJob();
  const askExport = useRequestExport();
  const navigate = useNavigate();
  const name = job.name || `Job ${job.id}`;

  const steer = (to: JobMove, done: string) => () =>
    move.mutate(
      { id: job.id, move: to },
      { onSuccess: () => toasts.success(`${name} ${done}.`), onError: toasts.fail },
    );
  const exportRows = () =>
    askExport.mutate(
      { jobId: job.id, format: "csv" },
      {
        onSuccess: () =>
          void navigate({
            to: "/jobs/$jobId",
            params: { jobId: job.id },
            search: { tab: "exports" },
          }),
        onError: toasts.fail,
      },
    );

  const items: MenuItem[] = [];
  if (mayMove(job, "pause")) {
    items.push({ label: "Pause", icon: "pause", onSelect: steer("pause", "was paused") });
  }
  if (mayMove(job, "resume")) {
    items.push({ label: "Resume", icon: "play", onSelect: steer("resume", "was resumed") });
  }
  if (settled(job.counts) > 0) {
    items.push({ label: "Run items again…", icon: "repeat", onSelect: () => ask("reprocess") });
  }
  if (job.counts.total > 0) {
    items.push({ label: "Export as CSV", icon: "download", onSelect: exportRows });
  }
  if (mayMove(job, "cancel")) {
    items.push({ label: "Cancel…", icon: "stop", danger: true, onSelect: () => ask("cancel") });
  }
  items.push({ label: "Delete…", icon: "trash", danger: true, onSelect: () => ask("delete") });
  return items;
}
