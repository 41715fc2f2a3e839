import type { Gate } from "../../api";

export type Line = Gate["evidence"][number];

/** What was seen and what was decided, as the server words it: the command line shows the same. */
export function sentence({ seen, decided }: Pick<Line, "seen" | "decided">): string {
  return `${seen.charAt(0).toUpperCase()}${seen.slice(1)} – ${decided}`;
}

/** Whether the rate is another one since. */
export function isStep({ before, after }: Pick<Line, "before" | "after">): boolean {
  return after !== null && before !== after;
}
