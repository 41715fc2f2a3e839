import type { Counts, Eta, Event, Job, Wait } from "../api";

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
  state: Job["state"];
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

export interface Message {
  kind: string;
  id: string | null;
  data: string;
}

/** Splits a stream of text into server-sent events. Comments only keep the connection alive. */
export class SseParser {
  #rest = "";
  #kind = "";
  #id: string | null = null;
  #data: string[] = [];

  /** Returns the events that end within this chunk. */
  feed(text: string): Message[] {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line: string): Message[] {
    if (line === "") return this.#ended();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#kind = value;
    else if (field === "data") this.#data.push(value);
    else if (field === "id") this.#id = value;
    return [];
  }

  #ended(): Message[] {
    const ended = { kind: this.#kind || "message", id: this.#id, data: this.#data.join("\n") };
    const isEmpty = this.#data.length === 0;
    this.#kind = "";
    this.#id = null;
    this.#data = [];
    return isEmpty ? [] : [ended];
  }
}
