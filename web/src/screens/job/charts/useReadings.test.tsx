import { QueryClientProvider } from "@tanstack/react-query";
import { act, renderHook } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { keys } from "../../../api";
import { newQueries } from "../../../api/queries";
import type { LiveMessage } from "../../../live";
import { useReadings } from "./useReadings";

const listeners = new Map<string, (value: unknown) => void>();
vi.mock("../../../live", () => ({
  useLiveMessage: (kind: string, onMessage: (value: unknown) => void) =>
    void listeners.set(kind, onMessage),
}));

function tell(kind: LiveMessage["kind"], value: object) {
  act(() => listeners.get(kind)?.(value));
}

const COUNTS = { total: 9, pending: 9, done: 0, notFound: 0, error: 0, cancelled: 0 };

function counters(second: number) {
  const at = `2026-11-17T10:00:0${second}Z`;
  return { jobId: "3", at, state: "RUNNING", counts: COUNTS };
}

function gate(key: string) {
  return { key, name: key, nowPerS: 5, latencyS: 0.1, refusedShare: 0, inFlight: 1 };
}

function read(gates: readonly object[]) {
  const queries = newQueries(() => undefined);
  queries.setQueryData(keys.gates("3"), { items: gates });
  queries.setQueryData(keys.history("3"), []);
  return renderHook(() => useReadings("3"), {
    wrapper: ({ children }) => (
      <QueryClientProvider client={queries}>{children}</QueryClientProvider>
    ),
  });
}

beforeEach(() => listeners.clear());

describe("the readings of a job", () => {
  it("tell nothing of gates that other jobs pass", () => {
    const { result } = read([]);
    tell("gate", gate("catalog"));
    tell("counters", counters(1));
    tell("counters", counters(3));
    expect(result.current.points.map(({ gates }) => gates)).toEqual([[], []]);
    expect(result.current.names).toEqual([]);
  });

  it("tell of its own gates", () => {
    const { result } = read([gate("shop")]);
    tell("gate", gate("catalog"));
    tell("gate", gate("shop"));
    tell("counters", counters(1));
    expect(result.current.points.at(-1)?.gates.map(({ name }) => name)).toEqual(["shop"]);
    expect(result.current.names).toEqual(["shop"]);
  });
});
