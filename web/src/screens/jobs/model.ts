import { isUnfinished, type Job, type JobFromSource, type Wait } from "../../api";
import { perSecond } from "../../design";

type JobPace = Pick<Job, "state" | "rate" | "eta" | "limitedBy">;

/** Waits that need attention at once: the job makes no progress. */
const STOPPED = new Set(["breaker", "worker"]);

/** The current rate; none if the job is stopped or finished. */
export function rateOf(job: JobPace): string {
  const isWorking = isUnfinished(job) && job.state !== "PAUSED" && !isRead(job);
  return isWorking ? perSecond(job.rate) : "–";
}

/** The time left, or why it is unknown. */
export function leftOf(job: JobPace): string {
  if (job.state === "PAUSED") return "Paused";
  if (isRead(job)) return "Reading file…";
  if (isStopped(job)) return "–";
  return job.eta?.words ?? "Calculating…";
}

/** What limits the job, in two parts: where and why. */
export function limitOf({ limitedBy }: JobPace): { where: string; why: string } {
  if (!limitedBy) return { where: "", why: "–" };
  const { why } = limitedBy;
  const where = placeOf(limitedBy);
  return where ? { where, why: why.slice(where.length + 2) } : { where: "", why: capitalised(why) };
}

/** The reason of a wait as the start of a sentence. The name of a gate keeps its case. */
export function causeOf(wait: Wait): string {
  const isName =
    placeOf(wait) !== "" || /^[\w.-]+(:\d+)? (does not answer|answered)/.test(wait.why);
  return isName ? wait.why : capitalised(wait.why);
}

/** True if the job needs a host or a worker to continue. */
export function isStopped({ state, limitedBy }: JobPace): boolean {
  return state !== "PAUSED" && limitedBy !== null && STOPPED.has(limitedBy.kind);
}

/** True while the file is being read. */
export function isRead({ state, limitedBy }: JobPace): boolean {
  return state === "INGESTING" && (limitedBy === null || limitedBy.kind === "reading");
}

/** The gate that the reason starts with: `wikidata: the learned rate`. */
function placeOf({ gate, why }: Wait): string {
  const name = gate.slice(gate.indexOf(":") + 1);
  return name && why.startsWith(`${name}: `) ? name : "";
}

function capitalised(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const WORDS =
  "anchor basin brook canal cascade channel creek culvert current dam delta ditch dock drain " +
  "eddy estuary ferry flood flume ford fountain gate glacier gorge gulf harbour haven inlet " +
  "island jetty kayak lagoon lake levee lock marsh meander mill moat moor oasis ocean pier " +
  "pond pool quay rain rapids reef reservoir ripple river runnel sea sluice snow source spring " +
  "strait stream surf swamp tide torrent tributary valve wade water waterfall wave weir well";

/** Sample rows: most are words, and some show other outcomes. */
export const SAMPLE_JOB: JobFromSource = {
  handler: "sample.words",
  name: "Sample: letters of words",
  key: ["word"],
  items: [...WORDS.split(" "), "bank", "bow", "1984", "42", "zzz", "qqq", "a b"].map((word) => ({
    word,
  })),
};
