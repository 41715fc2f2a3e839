import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { asProblem, useMirrorSource } from "../../api";
import { Confirm, Field, sentence, TextArea, useToasts } from "../../design";
import { type Checked, checked, EMPTY_FORM, type NewMirrorForm } from "./newMirror";

/** Asks for a source, and begins the first pass over it. */
export function NewMirror({ onClose }: { onClose: () => void }) {
  const [form, setForm] = useState<NewMirrorForm>(EMPTY_FORM);
  const [found, setFound] = useState<Checked | null>(null);
  const begin = useMirrorSource();
  const toasts = useToasts();
  const navigate = useNavigate();
  const change = (part: Partial<NewMirrorForm>) => {
    setForm({ ...form, ...part });
    setFound(null);
  };
  const confirm = () => {
    const next = checked(form);
    setFound(next);
    if (!("request" in next)) return;
    begin.mutate(next.request, {
      onSuccess: ({ mirrorId, jobId, notes }) => {
        toasts.success([`Pass ${jobId} begins.`, ...notes.map(sentence)].join(" "));
        void navigate({ to: "/mirrors/$mirrorId", params: { mirrorId } });
      },
    });
  };
  return (
    <Confirm
      title="New mirror"
      action="Begin first pass"
      disabled={!form.source.trim()}
      busy={begin.isPending}
      problem={begin.error ? sentence(asProblem(begin.error).detail) : undefined}
      onClose={onClose}
      onConfirm={confirm}
    >
      <TextArea
        label="Source"
        hint="The name of a shipped source, such as github, or a description as JSON."
        problem={problemOf(found, "source")}
        rows={6}
        value={form.source}
        onChange={(event) => change({ source: event.target.value })}
      />
      <TextArea
        label="Values"
        hint="Optional. Values for the {names} in the source: one name=value on each line."
        problem={problemOf(found, "values")}
        rows={2}
        value={form.values}
        onChange={(event) => change({ values: event.target.value })}
      />
      <Field
        label="Name"
        hint="Optional. Defaults to the name of the source."
        value={form.name}
        onChange={(event) => change({ name: event.target.value })}
      />
      <Field
        label="Rate"
        hint="Optional. The most requests, such as 100/min."
        value={form.rate}
        onChange={(event) => change({ rate: event.target.value })}
      />
    </Confirm>
  );
}

function problemOf(found: Checked | null, field: "source" | "values"): string | undefined {
  return found && "problem" in found && found.field === field ? found.problem : undefined;
}
