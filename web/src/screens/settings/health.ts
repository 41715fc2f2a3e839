import type { Health, System } from "../../api";

type HealthTold = Pick<Health, "status"> & Partial<Pick<Health, "notRunning">>;

/** What the answer of the health check means, and what to do. */
export function healthInWords({ status, notRunning = [] }: HealthTold): {
  title: string;
  todo: string;
} {
  switch (status) {
    case "ok":
      return { title: "All is well", todo: "The store answers, and items move." };
    case "store":
      return {
        title: "The store does not answer",
        todo: "Nothing can be read or done until it does. Is the database running, and is there space?",
      };
    case "not running":
      return {
        title: `Not running: ${notRunning.join(", ")}`,
        todo: "It gave no sign of life for too long and is started again by itself. The log of the server says why it ended.",
      };
    case "no workers":
      return {
        title: "No worker is running",
        todo: "Items wait. Start one where the handlers are: headgate worker",
      };
    case "stalled":
      return {
        title: "Items wait, and none moves",
        todo: "Workers are there, but nothing was claimed or finished for a minute. Look at the workers and the providers.",
      };
    case "slow":
      return {
        title: "Jobs are held up",
        todo: "They have rows to do, and for 30 seconds did less than 5 % of what they could.",
      };
    default:
      return { title: status, todo: "See what the server writes to its log." };
  }
}

/** What is known of a part of the server. */
export function partInWords({ alive, restarts, lastError }: System["loops"][number]): string {
  const state = alive ? "runs" : "does not run";
  if (restarts === 0) return state;
  const times = restarts === 1 ? "once" : `${restarts} times`;
  return `${state}; started again ${times}, the last time because ${lastError ?? "it ended"}`;
}

/** What the schema of the database is, against what this release brings. */
export function schemaInWords({ schemaVersion, latestSchemaVersion }: System["database"]): string {
  if (schemaVersion === latestSchemaVersion) return `${schemaVersion}, current`;
  return `${schemaVersion} of ${latestSchemaVersion}: run headgate db migrate`;
}

/** The queue as it was at some moments. */
export interface Sample {
  /** Seconds since 1970. */
  at: number;
  depth: number;
}

const KEPT = 240;
/** Fewer say nothing of where it goes. */
export const ENOUGH = 6;
/** By such a share of itself, or by so many, it must have grown to be called growing. */
const SHARE = 0.02;
const MANY = 50;

/** The samples with one more; only so many are kept. */
export function withSample(samples: readonly Sample[], next: Sample): readonly Sample[] {
  return samples.at(-1)?.at === next.at ? samples : [...samples, next].slice(-KEPT);
}

/** Where the queue goes: steady growth means that there are too few workers. */
export function trendOf(samples: readonly Sample[]): "grows" | "shrinks" | "steady" | null {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || samples.length < ENOUGH) return null;
  const change = last.depth - first.depth;
  if (Math.abs(change) < Math.max(MANY, first.depth * SHARE)) return "steady";
  return change > 0 ? "grows" : "shrinks";
}
