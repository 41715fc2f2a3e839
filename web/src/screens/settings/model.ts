import type { Health, Role, System } from "../../api";

const ROLES: readonly { value: Role; label: string }[] = [
  { value: "viewer", label: "Viewer – read only" },
  { value: "user", label: "User – create and manage own jobs" },
  { value: "admin", label: "Admin – everything" },
];

/** Roles that a user of this role may give. */
export function rolesUpTo(role: Role) {
  return ROLES.slice(0, ROLES.findIndex(({ value }) => value === role) + 1);
}

const DAY_S = 86_400;

/** Lifetimes of a token. */
export const LIFETIMES = [
  { value: String(7 * DAY_S), label: "In 7 days" },
  { value: String(30 * DAY_S), label: "In 30 days" },
  { value: String(90 * DAY_S), label: "In 90 days" },
  { value: String(366 * DAY_S), label: "In 1 year" },
  { value: "", label: "Never" },
];
export const DEFAULT_LIFETIME = String(90 * DAY_S);

/** The lifetime as the API takes it. */
export function lifetimeOf(value: string): { expiresInS?: number } {
  return value ? { expiresInS: Number(value) } : {};
}

type HealthSummary = Pick<Health, "status"> & Partial<Pick<Health, "notRunning">>;

/** The health status in words, and what to do. */
export function healthInWords({ status, notRunning = [] }: HealthSummary): {
  title: string;
  todo: string;
} {
  switch (status) {
    case "ok":
      return { title: "Healthy", todo: "The database answers, and no work is stuck." };
    case "store":
      return {
        title: "The database does not answer",
        todo: "Nothing can run until it does. Check that the database is running and has disk space.",
      };
    case "not running":
      return {
        title: `Not running: ${notRunning.join(", ")}`,
        todo: "No heartbeat for too long. It restarts automatically; see the server’s log for the reason.",
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

const MOST_SAMPLES = 240;
/** Samples that a trend needs. */
export const FEWEST_SAMPLES = 6;
/** Growth counts as a trend above this share of the depth, or above `SMALL_QUEUE` items. */
const SHARE = 0.02;
const SMALL_QUEUE = 50;

/** Adds a sample, up to a maximum. */
export function withSample(samples: readonly Sample[], next: Sample): readonly Sample[] {
  return samples.at(-1)?.at === next.at ? samples : [...samples, next].slice(-MOST_SAMPLES);
}

/** The trend of the queue. Steady growth means that there are too few workers. */
export function trendOf(samples: readonly Sample[]): "grows" | "shrinks" | "steady" | null {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || samples.length < FEWEST_SAMPLES) return null;
  const change = last.depth - first.depth;
  if (Math.abs(change) < Math.max(SMALL_QUEUE, first.depth * SHARE)) return "steady";
  return change > 0 ? "grows" : "shrinks";
}
