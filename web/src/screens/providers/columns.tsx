import type { Gate } from "../../api";
import { Badge, type Column, duration, grouped, percent, perSecond } from "../../design";
import styles from "./columns.module.css";
import { GateActions } from "./GateActions";
import { GateState } from "./GateState";

export const COLUMNS: Column<Gate>[] = [
  { id: "name", header: "Gate", width: 132, grow: 4, phone: true, cell: name },
  {
    id: "state",
    header: "State",
    width: 124,
    grow: 5,
    phone: true,
    cell: (gate) => <GateState gate={gate} />,
  },
  { id: "why", header: "Limited by", width: 110, grow: 4, cell: why },
  { id: "configured", header: "Configured", width: 96, grow: 0, align: "end", cell: configured },
  { id: "learned", header: "Learned", width: 88, grow: 0, align: "end", cell: learned },
  { id: "now", header: "Current", width: 96, grow: 0, align: "end", phone: true, cell: now },
  { id: "flight", header: "In flight", width: 76, grow: 0, align: "end", cell: inFlight },
  { id: "refused", header: "Throttled", width: 84, grow: 0, align: "end", cell: refused },
  { id: "latency", header: "Latency", width: 76, grow: 0, align: "end", cell: latency },
  {
    id: "actions",
    header: "Actions",
    hideHeader: true,
    width: 60,
    grow: 0,
    align: "end",
    cell: (gate) => <GateActions gate={gate} />,
  },
];

function name({ name: text, kind, key }: Gate) {
  return (
    <span className={styles.name} title={key}>
      <span className={styles.text}>{text}</span>
      <span className={styles.kind}>{kind}</span>
    </span>
  );
}

function why({ why: reason, stage }: Gate) {
  const words = reason || stage;
  return <span title={words}>{words}</span>;
}

function configured({ configured: words, configuredPerS }: Gate) {
  return <span title={words || undefined}>{words ? perSecond(configuredPerS) : "–"}</span>;
}

/** The learned limit of the provider. */
export function learned({ asked, learnedPerS, told }: Gate) {
  if (learnedPerS !== null) {
    return (
      <span title={told ? "Declared by the provider" : undefined}>{perSecond(learnedPerS)}</span>
    );
  }
  return asked ? <span title="Headgate is still searching for the limit">searching</span> : "–";
}

/** The current limit. */
export function now({ asked, closed, nowPerS, override }: Gate) {
  if (closed) return "0/s";
  if (override && override.rate !== null) {
    return (
      <Badge tone="warn" title="Set by an operator">
        {perSecond(override.rate)} set
      </Badge>
    );
  }
  if (nowPerS !== null) return perSecond(nowPerS);
  return asked ? <span title="No rate limit">unlimited</span> : "–";
}

function inFlight({ inFlight: many, configuredInFlight, learnedInFlight }: Gate) {
  const most = configuredInFlight ?? learnedInFlight;
  return most === null ? grouped(many) : `${grouped(many)} / ${grouped(most)}`;
}

function refused({ replies, refusals, refusedShare }: Gate) {
  if (replies === 0) return "–";
  return (
    <span
      title={`${grouped(refusals)} of ${grouped(replies)} responses were refusals (such as 429)`}
    >
      {percent(refusedShare)}
    </span>
  );
}

function latency({ latencyS }: Gate) {
  return latencyS === null ? "–" : duration(latencyS);
}
