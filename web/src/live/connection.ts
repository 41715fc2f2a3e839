import { type Message, SseParser } from "./messages";

/**
 * `live`: connected. `connecting`: for the first time. `stale`: disconnected, reconnecting.
 * `paused`: paused by the user.
 */
export type Mode = "connecting" | "live" | "stale" | "paused";

export interface LiveState {
  mode: Mode;
  /** Time of the last message in ms since 1970; null before the first. */
  lastMessageAt: number | null;
}

export interface Listeners {
  onMessage: (message: Message) => void;
  /** The stream is back. Messages may have been missed. */
  onReconnect: () => void;
  onLoggedOut: () => void;
}

const SILENCE_MS = 40_000; // the server shows that it lives every 15 s
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

/** The event stream; reconnects until it is closed. */
export class Connection {
  #state: LiveState = { mode: "connecting", lastMessageAt: null };
  #watchers = new Set<() => void>();
  #listeners: Listeners;
  #stream: AbortController | null = null;
  #lastId: string | null = null;
  #jobId: string | null = null;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #missed = false;

  constructor(listeners: Listeners) {
    this.#listeners = listeners;
  }

  get state(): LiveState {
    return this.#state;
  }

  subscribe(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Subscribes to one job, or with null to all. */
  listen(jobId: string | null): void {
    if (this.#stream && this.#jobId === jobId) return;
    this.#jobId = jobId;
    if (this.#state.mode !== "paused") this.#open();
  }

  pause(): void {
    this.close();
    this.#missed = true;
    this.#become("paused");
  }

  resume(): void {
    this.#become("connecting");
    this.#open();
  }

  /** The machine is offline: marks the data as stale at once, without waiting for a timeout. */
  cut(): void {
    this.#stream?.abort();
  }

  /** The machine is online again: reconnects at once. */
  seek(): void {
    if (this.#state.mode === "stale") void this.#open();
  }

  close(): void {
    clearTimeout(this.#retry);
    this.#stream?.abort();
    this.#stream = null;
  }

  async #open(): Promise<void> {
    this.close();
    const stream = new AbortController();
    this.#stream = stream;
    try {
      await this.#read(stream);
    } catch {
      // Any end of the stream leads to a reconnect below.
    }
    if (this.#stream === stream) this.#lost();
  }

  async #read(stream: AbortController): Promise<void> {
    const query = this.#jobId === null ? "" : `?jobId=${encodeURIComponent(this.#jobId)}`;
    const headers = this.#lastId === null ? {} : { "Last-Event-ID": this.#lastId };
    const response = await fetch(`/api/events${query}`, { headers, signal: stream.signal });
    if (response.status === 401) this.#listeners.onLoggedOut();
    if (!response.ok || !response.body) return;
    const parser = new SseParser();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await withinSilence(reader.read(), stream);
      if (done) return;
      this.#receive(parser.feed(value));
    }
  }

  #receive(messages: Message[]): void {
    this.#state = { mode: this.#state.mode, lastMessageAt: Date.now() };
    for (const message of messages) {
      if (message.id !== null) this.#lastId = message.id;
      if (message.kind === "hello") this.#begun();
      else this.#listeners.onMessage(message);
    }
  }

  #begun(): void {
    this.#failures = 0;
    this.#become("live");
    if (this.#missed) this.#listeners.onReconnect();
    this.#missed = false;
  }

  #lost(): void {
    this.#missed = true;
    this.#become("stale");
    const wait = Math.min(FIRST_WAIT_MS * 2 ** this.#failures, LONGEST_WAIT_MS);
    this.#failures += 1;
    // Random delay: many pages lose the same server at the same moment.
    this.#retry = setTimeout(() => void this.#open(), wait * (0.5 + Math.random() / 2));
  }

  #become(mode: Mode): void {
    this.#state = { ...this.#state, mode };
    for (const watcher of this.#watchers) watcher();
  }
}

/** Fails a read after a long silence: a dead connection reports nothing. */
async function withinSilence<T>(read: Promise<T>, stream: AbortController): Promise<T> {
  const timer = setTimeout(() => stream.abort(), SILENCE_MS);
  try {
    return await read;
  } finally {
    clearTimeout(timer);
  }
}
