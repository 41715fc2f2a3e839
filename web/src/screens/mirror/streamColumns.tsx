import type { Checkpoint } from "../../api";
import { type Column, grouped } from "../../design";
import { proofOf, seenInWords, shareSeen } from "../mirrors/model";
import { VerdictBadge } from "../mirrors/Verdict";
import { driftOf, type StreamRow } from "./model";
import styles from "./streamColumns.module.css";

export const STREAM_COLUMNS: Column<StreamRow>[] = [
  { id: "name", header: "Stream", width: 110, grow: 2, phone: true, cell: name },
  {
    id: "live",
    header: "Rows",
    width: 84,
    grow: 0,
    align: "end",
    cell: ({ stream }) => grouped(stream.live),
  },
  {
    id: "mode",
    header: "Mode",
    width: 104,
    grow: 0,
    wide: true,
    cell: ({ checkpoint }) => checkpoint?.mode ?? "not listed",
  },
  { id: "progress", header: "Progress", width: 140, grow: 2, cell: progress },
  { id: "added", header: "New", ...count(({ added }) => added) },
  { id: "changed", header: "Changed", ...count(({ changed }) => changed) },
  { id: "proof", header: "Proof", width: 132, grow: 0, phone: true, cell: proof },
  { id: "drift", header: "Drift", width: 120, grow: 2, cell: drift },
  { id: "watermark", header: "Known up to", width: 120, grow: 2, wide: true, cell: watermark },
];

function count(of: (checkpoint: Checkpoint) => number) {
  return {
    width: 84,
    grow: 0,
    align: "end" as const,
    cell: ({ checkpoint }: StreamRow) => (checkpoint ? grouped(of(checkpoint)) : "–"),
  };
}

function name({ stream }: StreamRow) {
  return (
    <span className={styles.name} title={stream.name}>
      {stream.name}
    </span>
  );
}

function progress({ checkpoint }: StreamRow) {
  return checkpoint ? <Progress checkpoint={checkpoint} /> : "–";
}

/** How much of a stream a pass has seen. The bar moves without a value if the total is unknown. */
export function Progress({ checkpoint }: { checkpoint: Checkpoint }) {
  const share = shareSeen(checkpoint);
  const words = seenInWords(checkpoint);
  return (
    <span className={styles.progress} title={words}>
      {share !== null && (
        <progress
          className={styles.bar}
          aria-label={`Progress of ${checkpoint.stream}`}
          max={1}
          value={share}
        />
      )}
      <span className={styles.words}>{words}</span>
    </span>
  );
}

function proof({ checkpoint, isRunning }: StreamRow) {
  return checkpoint ? <VerdictBadge verdict={proofOf(checkpoint, isRunning)} /> : "–";
}

function drift({ checkpoint }: StreamRow) {
  const words = checkpoint ? driftOf(checkpoint) : "";
  return <span title={words || undefined}>{words || "–"}</span>;
}

function watermark({ stream }: StreamRow) {
  return <span title={stream.watermark ?? undefined}>{stream.watermark ?? "–"}</span>;
}
