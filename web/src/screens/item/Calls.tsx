import type { Call } from "../../api";
import { Badge, bytes, CopyButton, duration, type Tone } from "../../design";
import styles from "./Calls.module.css";
import { curlOf } from "./model";

const KINDS: Record<string, { word: string; tone: Tone }> = {
  fetched: { word: "Fetched", tone: "processing" },
  cached: { word: "From cache", tone: "done" },
  revalidated: { word: "Cache confirmed", tone: "done" },
  shared: { word: "Shared request", tone: "done" },
  refused: { word: "Throttled", tone: "warn" },
  failed: { word: "No answer", tone: "error" },
  barred: { word: "Blocked by robots.txt", tone: "cancelled" },
};

/** The network and cache calls of an attempt. */
export function Calls({ calls }: { calls: readonly Call[] }) {
  if (calls.length === 0) return null;
  return (
    <ul className={styles.calls} aria-label="Calls">
      {calls.map((call) => (
        <Line key={`${call.at} ${call.url} ${call.ranMs}`} call={call} />
      ))}
    </ul>
  );
}

function Line({ call }: { call: Call }) {
  const { verb, url, host, status, kind, cause } = call;
  const style = KINDS[kind] ?? { word: kind, tone: "pending" as const };
  const curl = curlOf(call);
  return (
    <li className={styles.call}>
      <span className={styles.status}>{status || "–"}</span>
      <span className={styles.what}>
        <code className={styles.url}>
          {verb} {url || host}
        </code>
        <span className={styles.muted}>
          <Badge tone={style.tone}>{style.word}</Badge> {duration(call.ranMs / 1000)}
          {call.waitedMs >= 1 && `, after ${duration(call.waitedMs / 1000)} for the rate limit`},{" "}
          {bytes(call.bytes)}
          {cause && ` · ${cause}`}
        </span>
      </span>
      {curl && (
        <CopyButton text={curl} label="Copy as curl, secrets masked">
          curl
        </CopyButton>
      )}
    </li>
  );
}
