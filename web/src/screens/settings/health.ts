import type { Health, System } from "../../api";

type HealthTold = Pick<Health, "status"> & Partial<Pick<Health, "notRunning">>;

/** The health status in words, and what to do. */
export function healthInWords({ status, notRunning = [] }: HealthTold): {
  title: string;
  todo: string;
} {
  switch (status) {
    case "ok":
      return { title: "Healthy", todo: "The database answers, and items are being processed." };
    case "store":
      return {
        title: "The database does not answer",
        todo: "Nothing can run until it does. Check that the database is running and has disk space.",
      };
    case "not running":
      return {
        title: `Not running: ${notRunning.join(", ")}`,
        todo: "No sign of life for too long. It restarts automatically; see the server’s log for the reason.",
      };
    case "no workers":
      return {
        title: "No worker is running",
        todo: "Items are waiting. Start a worker where the handlers are: headgate worker",
      };
    case "stalled":
      return {
        title: "No progress",
        todo: "Workers are running, but no item was claimed or finished for a minute. Check the workers and the providers.",
      };
    case "slow":
      return {
        title: "Jobs are slow",
        todo: "For 30 seconds they ran below 5 % of their possible rate.",
      };
    default:
      return { title: status, todo: "See the server’s log." };
  }
}

/** The state of a part of the server. */
export function partInWords({ alive, restarts, lastError }: System["loops"][number]): string {
  const state = alive ? "running" : "not running";
  if (restarts === 0) return state;
  const times = restarts === 1 ? "once" : `${restarts} times`;
  return `${state}; restarted ${times}, last because: ${lastError ?? "it exited"}`;
}

/** The schema version of the database, compared with this release. */
export function schemaInWords({ schemaVersion, latestSchemaVersion }: System["database"]): string {
  if (schemaVersion === latestSchemaVersion) return `${schemaVersion}, current`;
  return `${schemaVersion} of ${latestSchemaVersion}: run headgate db migrate`;
}

/** The queue depth at one time. */
export interface Sample {
  /** Seconds since 1970. */
  at: number;
  depth: number;
}

const KEPT = 240;
/** Samples that a trend needs. */
export const ENOUGH = 6;
/** Growth counts as a trend above this share of the depth, or above `MANY` items. */
const SHARE = 0.02;
const MANY = 50;

/** Adds a sample, up to a maximum. */
export function withSample(samples: readonly Sample[], next: Sample): readonly Sample[] {
  return samples.at(-1)?.at === next.at ? samples : [...samples, next].slice(-KEPT);
}

/** The trend of the queue. Steady growth means that there are too few workers. */
export function trendOf(samples: readonly Sample[]): "grows" | "shrinks" | "steady" | null {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || samples.length < ENOUGH) return null;
  const change = last.depth - first.depth;
  if (Math.abs(change) < Math.max(MANY, first.depth * SHARE)) return "steady";
  return change > 0 ? "grows" : "shrinks";
}
