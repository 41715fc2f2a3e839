import type { Counts, Eta, Event, Wait } from "../api";

/** Messages of the server: see `GET /api/events`. */
export type LiveMessage =
  | { kind: "counters"; value: Counters }
  | { kind: "changed"; value: { jobId: string; after: string } }
  | { kind: "event"; value: Event }
  | { kind: "gate"; value: GateMessage }
  | { kind: "trouble"; value: { detail: string } };

export interface Counters {
  jobId: string;
  at: string;
  state: string;
  counts: Counts;
  ingest: Record<string, unknown>;
  rate: number | null;
  eta: Eta | null;
  limitedBy: Wait | null;
}

export interface GateMessage {
  key: string;
  name: string;
  nowPerS: number | null;
  learnedPerS: number | null;
  closed: boolean;
  /** Seconds since 1970. */
  closedUntil: number | null;
  why: string;
  inFlight: number;
  latencyS: number | null;
  refusedShare: number;
  at: string;
}

export type LiveMessageKind = LiveMessage["kind"];
export type LiveMessageValue<K extends LiveMessageKind> = Extract<
  LiveMessage,
  { kind: K }
>["value"];
