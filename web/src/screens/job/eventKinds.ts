import type { Tone } from "../../design";

const KINDS: Record<string, { word: string; tone: Tone }> = {
  job_state: { word: "State", tone: "processing" },
  job_priority: { word: "Priority", tone: "processing" },
  job_closed: { word: "Closed", tone: "processing" },
  export_asked: { word: "Export", tone: "done" },
  export_state: { word: "Export", tone: "done" },
  export_dropped: { word: "Export", tone: "skipped" },
  decided: { word: "Review", tone: "review" },
  rescued: { word: "Recovered", tone: "warn" },
  host: { word: "Host", tone: "warn" },
  worker_crashed: { word: "Crash", tone: "error" },
  handler_warning: { word: "Handler", tone: "warn" },
  discarded: { word: "Late result", tone: "warn" },
  asked: { word: "Request", tone: "processing" },
  items_discarded: { word: "Discarded", tone: "cancelled" },
};

/** Label of an event kind; unknown kinds keep the server's name. */
export function wordOf(kind: string): string {
  const plain = kind.replaceAll("_", " ");
  return KINDS[kind]?.word ?? plain.charAt(0).toUpperCase() + plain.slice(1);
}

export function toneOf(kind: string): Tone {
  return KINDS[kind]?.tone ?? "pending";
}
