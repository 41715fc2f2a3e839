import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type Mirror, mayMove, useJob, useMay } from "../../api";
import { Button, Menu } from "../../design";
import { PauseOrResume } from "../job/JobButtons";
import { isInterrupted, isRunning } from "../mirrors/model";
import { BeginPass } from "./BeginPass";
import { CancelPass } from "./CancelPass";
import { ForgetMirror } from "./ForgetMirror";

/** Begin, pause, resume and cancel a pass; forget the mirror. */
export function MirrorButtons({ mirror }: { mirror: Mirror }) {
  const mayWrite = useMay("user");
  const navigate = useNavigate();
  const [isForgotten, setForgotten] = useState(false);
  if (!mayWrite) return null;
  const { newest } = mirror;
  return (
    <>
      {newest && isRunning(newest) ? (
        <RunningPass jobId={newest.id} />
      ) : (
        <NextPass mirror={mirror} />
      )}
      <Menu
        label={`Actions for ${mirror.name}`}
        items={[
          {
            label: "Forget mirror…",
            icon: "trash",
            danger: true,
            onSelect: () => setForgotten(true),
          },
        ]}
        button={{ children: "Actions", icon: "chevronDown", variant: "plain" }}
      />
      {isForgotten && (
        <ForgetMirror
          mirror={mirror}
          onClose={() => setForgotten(false)}
          onForgotten={() => void navigate({ to: "/mirrors" })}
        />
      )}
    </>
  );
}

function RunningPass({ jobId }: { jobId: string }) {
  const job = useJob(jobId).data;
  const [isAsked, setAsked] = useState(false);
  if (!job) return null;
  return (
    <>
      <PauseOrResume job={job} noun="Pass" />
      {mayMove(job, "cancel") && (
        <Button icon="stop" onClick={() => setAsked(true)}>
          Cancel pass…
        </Button>
      )}
      {isAsked && <CancelPass job={job} onClose={() => setAsked(false)} />}
    </>
  );
}

function NextPass({ mirror }: { mirror: Mirror }) {
  const [isAsked, setAsked] = useState(false);
  const isOpen = mirror.newest !== null && isInterrupted(mirror.newest);
  return (
    <>
      <Button variant="primary" icon={isOpen ? "play" : "plus"} onClick={() => setAsked(true)}>
        {isOpen ? "Continue pass…" : "New pass…"}
      </Button>
      {isAsked && <BeginPass mirror={mirror} onClose={() => setAsked(false)} />}
    </>
  );
}
