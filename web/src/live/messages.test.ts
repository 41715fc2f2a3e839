import { describe, expect, it } from "vitest";
import { SseParser } from "./messages";

const STREAM =
  "event: hello\r\nid: 7\r\ndata: {}\r\n\r\n: ping\r\n\r\nevent: event\ndata: a\ndata: b\n\n";
const MESSAGES = [
  { kind: "hello", id: "7", data: "{}" },
  { kind: "event", id: null, data: "a\nb" },
];

describe("server-sent events", () => {
  it("are found in one piece", () => {
    expect(new SseParser().feed(STREAM)).toEqual(MESSAGES);
  });

  it("are the same wherever the stream is cut", () => {
    for (let cut = 0; cut <= STREAM.length; cut += 1) {
      const parser = new SseParser();
      const found = [...parser.feed(STREAM.slice(0, cut)), ...parser.feed(STREAM.slice(cut))];
      expect(found, `cut at ${cut}`).toEqual(MESSAGES);
    }
  });

  it("come only when they have ended", () => {
    expect(new SseParser().feed("event: changed\ndata: {}\n")).toEqual([]);
  });
});
