import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useCallback } from "react";
import { type Gate, type Gates, keys, useJobGates, useMay } from "../../api";
import { classes, duration, Fact, grouped, Icon, perSecond, useNow } from "../../design";
import { type GateMessage, useLiveMessage } from "../../live";
import styles from "./GatesNow.module.css";
import { withMessage } from "./model";

/** Current rates of the providers of a job. */
export function GatesNow({ jobId }: { jobId: string }) {
  const gates = useJobGates(jobId).data?.items ?? [];
  useFreshGates(jobId);
  const shown = gates.filter((gate) => gate.closed || gate.nowPerS !== null || gate.inFlight > 0);
  if (shown.length === 0) return null;
  return (
    <Fact name="Providers now">
      <span className={styles.gates}>
        {shown.map((gate) => (
          <GateNow key={gate.key} gate={gate} />
        ))}
      </span>
    </Fact>
  );
}

/** Applies live gate messages to the cached gates. */
function useFreshGates(jobId: string): void {
  const queries = useQueryClient();
  const onMessage = useCallback(
    (message: GateMessage) => {
      const key = keys.gates(jobId);
      const known = queries.getQueryData<Gates>(key);
      if (!known) return;
      if (known.items.some((gate) => gate.key === message.key)) {
        queries.setQueryData<Gates>(key, { ...known, items: withMessage(known.items, message) });
      } else {
        void queries.invalidateQueries({ queryKey: key });
      }
    },
    [queries, jobId],
  );
  useLiveMessage("gate", onMessage);
}

function GateNow({ gate }: { gate: Gate }) {
  const isAdmin = useMay("admin");
  const name = isAdmin ? (
    <Link to="/providers" search={{ gate: gate.key }}>
      {gate.name}
    </Link>
  ) : (
    gate.name
  );
  return (
    <span className={classes(styles.gate, gate.closed && styles.closed)} title={gate.why}>
      {gate.closed && <Icon name="pause" size={12} />}
      {name} {gate.closed ? <ClosedFor until={gate.closedUntil} /> : pace(gate)}
    </span>
  );
}

function pace({ nowPerS, inFlight }: Gate): string {
  const flying = `${grouped(inFlight)} in flight`;
  return nowPerS === null ? flying : `${perSecond(nowPerS)}, ${flying}`;
}

function ClosedFor({ until }: { until: string | null }) {
  const now = useNow();
  const left = until === null ? 0 : (new Date(until).getTime() - now) / 1000;
  return <>{left > 0 ? `closed, opens in ${duration(Math.ceil(left))}` : "closed"}</>;
}
