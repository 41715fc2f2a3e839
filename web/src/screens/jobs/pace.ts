import { isUnfinished, type Job } from "../../api";
import { perSecond } from "../../design";

type Paced = Pick<Job, "state" | "rate" | "eta" | "limitedBy">;

/** How fast a job goes now; one that stands still or has ended has no speed. */
export function rateOf(job: Paced): string {
  return isUnfinished(job) && job.state !== "PAUSED" ? perSecond(job.rate) : "–";
}

/** How much longer it takes, as far as anybody can say. */
export function leftOf({ state, eta }: Paced): string {
  if (state === "PAUSED") return "nothing moves";
  return eta?.words ?? (state === "INGESTING" ? "still reading" : "nobody can say yet");
}

/** What decides its speed, in two short parts: where, and why. */
export function limitOf({ state, limitedBy }: Paced): { where: string; why: string } {
  if (state === "PAUSED") return { where: "", why: "the pause" };
  if (!limitedBy) return { where: "", why: "nothing: it goes as fast as it can" };
  const { kind, why } = limitedBy;
  const end = kind === "gate" ? why.indexOf(": ") : -1;
  return end < 0 ? { where: "", why } : { where: why.slice(0, end), why: why.slice(end + 2) };
}
