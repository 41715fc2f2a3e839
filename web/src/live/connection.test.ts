import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Connection } from "./connection";
import type { Message } from "./messages";

/** A stream that the test writes to, and what it was asked for. */
class Line {
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;

  constructor(
    readonly url: string,
    readonly headers: Record<string, string>,
    signal: AbortSignal,
  ) {
    signal.addEventListener("abort", () => this.#controller?.error(new Error("aborted")));
  }

  readonly response = () =>
    new Response(
      new ReadableStream<Uint8Array>({
        start: (controller) => {
          this.#controller = controller;
        },
      }),
    );

  say(text: string) {
    this.#controller?.enqueue(new TextEncoder().encode(text));
  }

  drop() {
    this.#controller?.close();
  }
}

const HELLO = "event: hello\nid: 5\ndata: {}\n\n";

describe("the event stream", () => {
  let lines: Line[];
  let received: Message[];
  let back: number;
  let connection: Connection;

  const settle = () => vi.advanceTimersByTimeAsync(1);

  beforeEach(() => {
    vi.useFakeTimers();
    lines = [];
    received = [];
    back = 0;
    vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
      const line = new Line(
        url,
        init.headers as Record<string, string>,
        init.signal as AbortSignal,
      );
      lines.push(line);
      return line.response();
    });
    connection = new Connection({
      onMessage: (message) => received.push(message),
      onReconnect: () => {
        back += 1;
      },
      onLoggedOut: () => {},
    });
  });

  afterEach(() => {
    connection.close();
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });

  it("is live once the server has greeted", async () => {
    connection.listen(null);
    await settle();
    expect(connection.state.mode).toBe("connecting");
    lines[0]?.say(`${HELLO}event: changed\ndata: {"jobId":"1"}\n\n`);
    await settle();
    expect(connection.state.mode).toBe("live");
    expect(received.map((each) => each.kind)).toEqual(["changed"]);
    expect(back).toBe(0);
  });

  it("is stale when the line drops, and goes on after the last event", async () => {
    connection.listen("7");
    await settle();
    lines[0]?.say(`${HELLO}event: event\nid: 9\ndata: {}\n\n`);
    await settle();
    lines[0]?.drop();
    await settle();
    expect(connection.state.mode).toBe("stale");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(lines[1]?.url).toBe("/api/events?jobId=7");
    expect(lines[1]?.headers).toEqual({ "Last-Event-ID": "9" });
    lines[1]?.say(HELLO);
    await settle();
    expect(connection.state.mode).toBe("live");
    expect(back).toBe(1);
  });

  it("is stale when nothing comes, not even a sign of life", async () => {
    connection.listen(null);
    await settle();
    lines[0]?.say(HELLO);
    await vi.advanceTimersByTimeAsync(30_000);
    lines[0]?.say(": ping\n\n");
    await vi.advanceTimersByTimeAsync(30_000);
    expect(connection.state.mode).toBe("live");
    await vi.advanceTimersByTimeAsync(11_000);
    expect(connection.state.mode).toBe("stale");
  });

  it("is stale as soon as the network is gone, and sought again as soon as it is back", async () => {
    connection.listen(null);
    await settle();
    lines[0]?.say(HELLO);
    await settle();
    connection.cut();
    await settle();
    expect([connection.state.mode, lines.length]).toEqual(["stale", 1]);
    connection.seek();
    await settle();
    lines[1]?.say(HELLO);
    await settle();
    expect(connection.state.mode).toBe("live");
    connection.seek();
    await settle();
    expect(lines.length).toBe(2);
  });

  it("holds still while it is paused, and then reads everything again", async () => {
    connection.listen(null);
    await settle();
    lines[0]?.say(HELLO);
    await settle();
    connection.pause();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([connection.state.mode, lines.length]).toEqual(["paused", 1]);
    connection.resume();
    await settle();
    lines[1]?.say(HELLO);
    await settle();
    expect([connection.state.mode, back]).toEqual(["live", 1]);
  });
});
