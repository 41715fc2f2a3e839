import type { Wait } from "../../api";

/** What limits a job, in two short parts: where, and why. Waits elsewhere have no place. */
export function limitIn({ kind, why }: Pick<Wait, "kind" | "why">): { where: string; why: string } {
  const end = kind === "gate" ? why.indexOf(": ") : -1;
  return end < 0 ? { where: "", why } : { where: why.slice(0, end), why: why.slice(end + 2) };
}
