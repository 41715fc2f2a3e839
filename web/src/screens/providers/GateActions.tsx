import { useState } from "react";
import { type Gate, useChangeGate } from "../../api";
import { Menu, type MenuItem, useToasts } from "../../design";
import { ForgetGate, PauseGate, SetRate } from "./GateDialogs";

type OpenDialog = "rate" | "pause" | "forget";

/** The actions of an operator on a gate, and their confirmations. */
export function GateActions({ gate, label }: { gate: Gate; label?: string }) {
  const [asked, setAsked] = useState<OpenDialog | null>(null);
  const items = useActions(gate, setAsked);
  const close = () => setAsked(null);
  return (
    <>
      <Menu
        label={`Actions for ${gate.name}`}
        items={items}
        {...(label ? { button: { children: label, icon: "chevronDown", variant: "plain" } } : {})}
      />
      {asked === "rate" && <SetRate gate={gate} onClose={close} />}
      {asked === "pause" && <PauseGate gate={gate} onClose={close} />}
      {asked === "forget" && <ForgetGate gate={gate} onClose={close} />}
    </>
  );
}

function useActions(gate: Gate, ask: (question: OpenDialog) => void): MenuItem[] {
  const change = useChangeGate();
  const toasts = useToasts();
  const goOn = () =>
    change.mutate(
      { name: gate.key, body: { paused: false } },
      {
        onSuccess: () => toasts.success(`${gate.name} uses the learned rate.`),
        onError: toasts.fail,
      },
    );
  const items: MenuItem[] = [{ label: "Set a rate…", icon: "gear", onSelect: () => ask("rate") }];
  if (gate.override) items.push({ label: "Use learned rate", icon: "play", onSelect: goOn });
  if (!gate.override?.paused) {
    items.push({ label: "Pause…", icon: "pause", onSelect: () => ask("pause") });
  }
  if (gate.asked) {
    const forget = () => ask("forget");
    items.push({
      label: "Forget learned limit…",
      icon: "trash",
      danger: true,
      onSelect: forget,
    });
  }
  return items;
}
