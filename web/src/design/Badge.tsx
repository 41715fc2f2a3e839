import type { ReactNode } from "react";
import type { Counts, ItemStatus, JobState } from "../api";
import styles from "./Badge.module.css";
import { classes } from "./classes";
import { Icon, type IconName } from "./Icon";
import { usePhone } from "./media";
import { counted, grouped } from "./numbers";

export type Tone =
  | "done"
  | "not-found"
  | "skipped"
  | "review"
  | "error"
  | "cancelled"
  | "pending"
  | "processing"
  | "warn";

/** A label in a coloured frame, with an icon so that colour is not the only sign. */
export function Badge({
  tone,
  icon,
  children,
  title,
}: {
  tone: Tone;
  icon?: IconName;
  children: ReactNode;
  title?: string;
}) {
  return (
    <span className={classes(styles.badge, styles[tone])} title={title}>
      {icon && <Icon name={icon} size={12} />}
      {children}
    </span>
  );
}

interface StatusStyle {
  tone: Tone;
  icon: IconName;
  word: string;
}

const STYLES: Record<ItemStatus | JobState, StatusStyle> = {
  PENDING: { tone: "pending", icon: "circle", word: "Pending" },
  PROCESSING: { tone: "processing", icon: "half", word: "Processing" },
  DONE: { tone: "done", icon: "check", word: "Done" },
  NOT_FOUND: { tone: "not-found", icon: "none", word: "Not found" },
  SKIPPED: { tone: "skipped", icon: "skip", word: "Skipped" },
  REVIEW: { tone: "review", icon: "question", word: "Review" },
  ERROR: { tone: "error", icon: "cross", word: "Error" },
  CANCELLED: { tone: "cancelled", icon: "stop", word: "Cancelled" },
  INGESTING: { tone: "processing", icon: "arrowDown", word: "Reading" },
  QUEUED: { tone: "pending", icon: "circle", word: "Queued" },
  RUNNING: { tone: "processing", icon: "play", word: "Running" },
  PAUSED: { tone: "warn", icon: "pause", word: "Paused" },
  FAILED: { tone: "error", icon: "cross", word: "Failed" },
};

/** Label, colour and icon of a status. */
export function statusStyle(status: string): StatusStyle {
  return STYLES[status as ItemStatus] ?? { tone: "pending", icon: "question", word: status };
}

interface Ended {
  state: string;
  counts: Pick<Counts, "error" | "review" | "total">;
}

interface JobStyle extends StatusStyle {
  short: string;
  /** Tooltip. */
  about?: string;
}

/** Label, colour and icon of a job. A finished job also shows its outcome. */
export function jobStyle({ state, counts }: Ended): JobStyle {
  const style = statusStyle(state);
  const { error, review, total } = counts;
  if (state !== "DONE" || (error === 0 && review === 0)) return { ...style, short: style.word };
  const about = [
    ...(error ? [`${grouped(error)} of ${counted(total, "item")} failed`] : []),
    ...(review ? [`${grouped(review)} to review`] : []),
  ].join(", ");
  if (error > 0) {
    const tone = error === total ? "error" : "warn";
    return { tone, icon: "warn", word: "Finished with errors", short: "With errors", about };
  }
  return { tone: "review", icon: "question", word: "Needs review", short: "Review", about };
}

export function JobBadge({ job }: { job: Ended }) {
  const { tone, icon, word, short, about } = jobStyle(job);
  const isPhone = usePhone();
  return (
    <Badge tone={tone} icon={icon} {...(about ? { title: about } : {})}>
      {isPhone ? short : word}
    </Badge>
  );
}

export function StatusBadge({ status }: { status: string }) {
  const { tone, icon, word } = statusStyle(status);
  return (
    <Badge tone={tone} icon={icon}>
      {word}
    </Badge>
  );
}
