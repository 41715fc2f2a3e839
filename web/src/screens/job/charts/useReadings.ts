import { useCallback, useEffect, useRef, useState } from "react";
import { type GatePoint, isUnfinished, useHistory, useJobGates } from "../../../api";
import { type Counters, type GateMessage, useLiveMessage } from "../../../live";
import { type Point, pointOf, seconds, withPoint } from "./readings";

const NONE: readonly Point[] = [];

interface Readings {
  points: readonly Point[];
  names: readonly string[];
  isLoading: boolean;
}

/**
 * Points of a job: the server's history, then live messages. Use a key, so that another job gets
 * another component.
 */
export function useReadings(jobId: string): Readings {
  const history = useHistory(jobId);
  const [points, setPoints] = useState(NONE);
  const drawn = useRef(0);
  const gates = useRef(new Map<string, GatePoint>());

  const remembered = history.data;
  useEffect(() => {
    if (remembered)
      setPoints((live) => live.reduce(withPoint, remembered.map(pointOf) as typeof live));
  }, [remembered]);

  // Messages cover every gate; only gates of this job belong in its charts.
  const own = useJobGates(jobId);
  const ownKeys = keysOf(own.data?.items);
  const noteGate = useCallback(
    (message: GateMessage) => {
      const { name, nowPerS, latencyS, refusedShare, inFlight } = message;
      if (latencyS === null || !ownKeys.split("\n").includes(message.key)) return;
      gates.current.set(name, { name, nowPerS, latencyS, refusedShare, inFlight });
    },
    [ownKeys],
  );
  useLiveMessage("gate", noteGate);

  const noteCounters = useCallback(
    (message: Counters) => {
      if (message.jobId !== jobId) return;
      const { counts } = message;
      const at = seconds(message.at);
      // Drawn once a second; the last message of a job is never left out.
      if (at - drawn.current < 1 && isUnfinished(message)) return;
      drawn.current = at;
      const point = { at, counts, gates: [...gates.current.values()] };
      setPoints((known) => withPoint(known, point));
    },
    [jobId],
  );
  useLiveMessage("counters", noteCounters);
  const names = (own.data?.items ?? []).map(({ name }) => name);
  return { points, names, isLoading: history.isPending || own.isPending };
}

function keysOf(gates: readonly { key: string }[] | undefined): string {
  return (gates ?? []).map(({ key }) => key).join("\n");
}
