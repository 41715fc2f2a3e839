import { useNavigate } from "@tanstack/react-router";
import { isUnfinished, type Job, mayMove, useKickoff, useMay, useMoveJob } from "../../api";
import { Button, grouped, useToasts } from "../../design";
import { JobActions } from "../jobs/JobActions";

/** The main actions of a job, and a menu with the others. */
export function JobButtons({ job }: { job: Job }) {
  const mayWrite = useMay("user");
  const navigate = useNavigate();
  if (!mayWrite) return null;
  return (
    <>
      <ProcessNow job={job} />
      <PauseOrResume job={job} />
      <JobActions job={job} label="Actions" onDeleted={() => void navigate({ to: "/" })} />
    </>
  );
}

export function PauseOrResume({ job, noun = "Job" }: { job: Job; noun?: "Job" | "Pass" }) {
  const move = useMoveJob();
  const toasts = useToasts();
  const isPaused = mayMove(job, "resume");
  if (!isPaused && !mayMove(job, "pause")) return null;
  return (
    <Button
      variant={isPaused ? "primary" : "plain"}
      icon={isPaused ? "play" : "pause"}
      busy={move.isPending}
      onClick={() =>
        move.mutate(
          { id: job.id, move: isPaused ? "resume" : "pause" },
          {
            onSuccess: () => toasts.success(`${noun} ${isPaused ? "resumed" : "paused"}.`),
            onError: toasts.fail,
          },
        )
      }
    >
      {isPaused ? "Resume" : "Pause"}
    </Button>
  );
}

function ProcessNow({ job }: { job: Job }) {
  const kickoff = useKickoff();
  const toasts = useToasts();
  const open = job.counts.pending + job.counts.processing;
  if (!isUnfinished(job)) return null;
  return (
    <Button
      icon="arrowRight"
      busy={kickoff.isPending}
      // The button keeps its place, so that the others do not move.
      disabled={open === 0 || (job.state !== "RUNNING" && job.state !== "QUEUED")}
      title="Run one more worker process on this job for 5 seconds"
      onClick={() =>
        kickoff.mutate(job.id, {
          onSuccess: ({ settled, remaining }) =>
            toasts.success(`${grouped(settled)} items finished, ${grouped(remaining)} left.`),
          onError: toasts.fail,
        })
      }
    >
      {kickoff.isPending ? "Working…" : "Boost 5 s"}
    </Button>
  );
}
