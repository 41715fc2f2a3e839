import { type Checkpoint, isUnfinished, type Mirror, type Pass } from "../../api";
import { counted, grouped, type IconName, inLine, type Tone } from "../../design";

/** A label with its colour, icon and tooltip. */
export interface Verdict {
  tone: Tone;
  icon: IconName;
  label: string;
  help: string;
}

type Proof = NonNullable<Checkpoint["proof"]>;

const PROOFS: Record<Proof, Verdict> = {
  covered: {
    tone: "done",
    icon: "check",
    label: "Covered",
    help: "Proven: the pages cover the whole order of a unique key.",
  },
  chained: {
    tone: "done",
    icon: "check",
    label: "Chained",
    help: "Proven: each page named the next one, from the first to the last.",
  },
  counted: {
    tone: "done",
    icon: "check",
    label: "Counted",
    help: "Proven: as many distinct rows as the source says there are.",
  },
  unproven: {
    tone: "warn",
    icon: "warn",
    label: "Unproven",
    help: "Rows may be missing, so this pass deletes nothing.",
  },
};

/** Whether a pass saw every row of a stream, and how we know. */
export function proofOf(checkpoint: Checkpoint, isRunning: boolean): Verdict {
  const { proof, evidence } = checkpoint;
  if (proof === null) return isRunning ? RUNNING : INCOMPLETE;
  const reason = proof === "unproven" ? inLine(evidence?.reason) : "";
  const verdict = PROOFS[proof];
  return reason ? { ...verdict, help: `${verdict.help} Reason: ${reason}.` } : verdict;
}

const RUNNING: Verdict = {
  tone: "processing",
  icon: "half",
  label: "In progress",
  help: "The proof follows when every page is stored.",
};

const INCOMPLETE: Verdict = {
  tone: "error",
  icon: "cross",
  label: "Incomplete",
  help: "Some pages are missing, so this pass deletes nothing. Retry failed pages to complete it.",
};

export function isProven({ proof }: Checkpoint): boolean {
  return proof !== null && proof !== "unproven";
}

/** True until the job of the pass has ended. */
export function isRunning({ job }: Pass): boolean {
  return job !== null && isUnfinished(job);
}

/** True if the pass has ended and some stream is not complete: it can be continued. */
export function isInterrupted(pass: Pass): boolean {
  if (pass.job === null || isRunning(pass) || pass.job.state === "CANCELLED") return false;
  return pass.checkpoints.some(({ proof }) => proof === null);
}

/** The proofs of all streams of a pass in one label. */
export function verdictOf(pass: Pass): Verdict {
  const { checkpoints } = pass;
  const complete = checkpoints.filter(({ proof }) => proof !== null).length;
  const label = `${grouped(complete)} of ${grouped(checkpoints.length)} complete`;
  if (isRunning(pass)) return { ...RUNNING, label };
  if (complete < checkpoints.length) return { ...INCOMPLETE, label };
  const unproven = checkpoints.filter((each) => !isProven(each)).length;
  if (unproven > 0) return { ...PROOFS.unproven, label: `${grouped(unproven)} unproven` };
  return { ...PROOFS.covered, label: "Proven", help: "Every stream is complete and proven." };
}

/** Distinct rows that a pass has seen. */
export function rowsSeen({ added, changed, unchanged }: Checkpoint): number {
  return added + changed + unchanged;
}

/** The share of a stream that a pass has seen; null if the source does not tell the total. */
export function shareSeen(checkpoint: Checkpoint): number | null {
  if (checkpoint.proof !== null) return 1;
  const { total } = checkpoint;
  if (!total) return null;
  return Math.min(rowsSeen(checkpoint) / total, 1);
}

/** "1,204 of 2,000 rows", or without a total "1,204 rows". */
export function seenInWords(checkpoint: Checkpoint): string {
  const { total, proof } = checkpoint;
  const rows = counted(rowsSeen(checkpoint), "row");
  return total === null || proof !== null
    ? rows
    : `${grouped(rowsSeen(checkpoint))} of ${counted(total, "row")}`;
}

export interface PassSums {
  pages: number;
  rows: number;
  added: number;
  changed: number;
}

/** Figures of a pass over all its streams. */
export function sumsOf({ checkpoints }: Pass): PassSums {
  const sum = (of: (each: Checkpoint) => number) =>
    checkpoints.reduce((all, each) => all + of(each), 0);
  return {
    pages: sum(({ pages }) => pages),
    rows: sum(rowsSeen),
    added: sum(({ added }) => added),
    changed: sum(({ changed }) => changed),
  };
}

/** "full", "incremental", or both if the streams of a pass differ. */
export function modeOf({ checkpoints }: Pass): string {
  const modes = new Set(checkpoints.map(({ mode }) => mode));
  return modes.size > 1 ? "full and incremental" : ([...modes][0] ?? "–");
}

export function rowsOf({ streams }: Pick<Mirror, "streams">): number {
  return streams.reduce((all, { live }) => all + live, 0);
}

/** When a pass began. */
export function startOf({ checkpoints, job }: Pass): string | null {
  const first = checkpoints
    .map(({ startedAt }) => startedAt)
    .filter((at) => at !== null)
    .sort()[0];
  return first ?? job?.createdAt ?? null;
}
