import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { type GatePoint, useHistory } from "../../../api";
import { type Counters, type GateNews, useNews } from "../../../live";
import { type Point, pointOf, seconds, withPoint } from "./readings";

/** How a job stood: what the server remembers, and then what it tells as it happens. */
export function useReadings(jobId: string): { points: readonly Point[]; isLoading: boolean } {
  const history = useHistory(jobId);
  const [live, setLive] = useState<readonly Point[]>([]);
  const gates = useRef(new Map<string, GatePoint>());

  const noteGate = useCallback((news: GateNews) => {
    const { name, nowPerS, latencyS, refusedShare, inFlight } = news;
    if (latencyS !== null)
      gates.current.set(name, { name, nowPerS, latencyS, refusedShare, inFlight });
  }, []);
  useNews("gate", noteGate);

  const noteCounters = useCallback(
    (news: Counters) => {
      if (news.jobId !== jobId) return;
      const point = {
        at: seconds(news.at),
        counts: news.counts,
        gates: [...gates.current.values()],
      };
      setLive((points) => withPoint(points, point));
    },
    [jobId],
  );
  useNews("counters", noteCounters);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another job begins with nothing
  useEffect(() => {
    gates.current.clear();
    setLive([]);
  }, [jobId]);

  const remembered = history.data;
  const points = useMemo(
    () => live.reduce(withPoint, (remembered ?? []).map(pointOf) as readonly Point[]),
    [remembered, live],
  );
  return { points, isLoading: history.isPending };
}
