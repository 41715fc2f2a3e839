import { isUnfinished, type Job, type Wait } from "../../api";
import { perSecond } from "../../design";

type Paced = Pick<Job, "state" | "rate" | "eta" | "limitedBy">;

/** Kinds of waits that somebody should know of at once: nothing goes on meanwhile. */
const STOPPED = new Set(["breaker", "worker"]);

/** How fast a job goes now; one that stands still or has ended has no speed. */
export function rateOf(job: Paced): string {
  const isWorking = isUnfinished(job) && job.state !== "PAUSED" && !isRead(job);
  return isWorking ? perSecond(job.rate) : "–";
}

/** How much longer it takes, as far as that can be said. */
export function leftOf(job: Paced): string {
  if (job.state === "PAUSED") return "Paused";
  if (isRead(job)) return "Reading file…";
  if (isStopped(job)) return "–";
  return job.eta?.words ?? "Calculating…";
}

/** What decides its speed, in two short parts: where, and why. */
export function limitOf({ limitedBy }: Paced): { where: string; why: string } {
  if (!limitedBy) return { where: "", why: "–" };
  const { why } = limitedBy;
  const where = placeOf(limitedBy);
  return where ? { where, why: why.slice(where.length + 2) } : { where: "", why: begun(why) };
}

/** The words of a wait, as they begin a sentence; the name of a gate stays as it is written. */
export function causeOf(wait: Wait): string {
  const isName =
    placeOf(wait) !== "" || /^[\w.-]+(:\d+)? (does not answer|answered)/.test(wait.why);
  return isName ? wait.why : begun(wait.why);
}

/** Whether nothing goes on until a host answers or a worker is there. */
export function isStopped({ state, limitedBy }: Paced): boolean {
  return state !== "PAUSED" && limitedBy !== null && STOPPED.has(limitedBy.kind);
}

/** Whether its file is being read. */
export function isRead({ state, limitedBy }: Paced): boolean {
  return state === "INGESTING" && (limitedBy === null || limitedBy.kind === "reading");
}

/** The gate that the words begin with: `wikidata: the learned rate`. */
function placeOf({ gate, why }: Wait): string {
  const name = gate.slice(gate.indexOf(":") + 1);
  return name && why.startsWith(`${name}: `) ? name : "";
}

function begun(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
