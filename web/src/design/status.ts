import type { CSSProperties } from "react";
import type { Counts, ItemStatus, JobState } from "../api";
import { ITEM_DISPLAY, JOB_DISPLAY } from "../api/moves";
import { counted, grouped } from "./format";
import type { IconName } from "./Icon";

type Display = (typeof ITEM_DISPLAY)[ItemStatus] | (typeof JOB_DISPLAY)[JobState];

/** A colour of tokens.css that has a soft variant. */
export type Tone = Display["tone"];

interface StatusStyle {
  tone: Tone;
  icon: IconName;
  label: string;
  /** Tooltip. */
  help?: string;
}

const STYLES: Readonly<Record<string, StatusStyle>> = { ...JOB_DISPLAY, ...ITEM_DISPLAY };

/** Label, colour, icon and meaning of a status. */
export function statusStyle(status: string): StatusStyle {
  return STYLES[status] ?? { tone: "pending", icon: "question", label: status };
}

/** Sets `--tone` and `--tone-soft` for the styles of an element. */
export function toneStyle(tone: Tone): CSSProperties {
  return { "--tone": `var(--${tone})`, "--tone-soft": `var(--${tone}-soft)` } as CSSProperties;
}

export interface JobOutcome {
  state: string;
  counts: Pick<Counts, "error" | "review" | "total">;
}

interface JobStyle extends StatusStyle {
  /** The label on a phone. */
  short: string;
}

/** Label, colour and icon of a job. A finished job also shows its outcome. */
export function jobStyle({ state, counts }: JobOutcome): JobStyle {
  const style = JOB_DISPLAY[state as JobState] ?? statusStyle(state);
  const { error, review, total } = counts;
  if (state !== "DONE" || (error === 0 && review === 0)) return { ...style, short: style.label };
  const help = [
    ...(error ? [`${grouped(error)} of ${counted(total, "item")} failed`] : []),
    ...(review ? [`${grouped(review)} to review`] : []),
  ].join(", ");
  if (error > 0) {
    const tone = error === total ? "error" : "warn";
    return { tone, icon: "warn", label: "Finished with errors", short: "With errors", help };
  }
  return { tone: "review", icon: "question", label: "Needs review", short: "Review", help };
}
