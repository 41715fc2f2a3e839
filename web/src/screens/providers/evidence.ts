import type { Gate } from "../../api";

export type Line = Gate["evidence"][number];

/** An observation and its decision, in the server's words. The command line shows the same. */
export function sentence({ seen, decided }: Pick<Line, "seen" | "decided">): string {
  return `${seen.charAt(0).toUpperCase()}${seen.slice(1)} – ${decided}`;
}

/** True if the rate changed. */
export function isStep({ before, after }: Pick<Line, "before" | "after">): boolean {
  return after !== null && before !== after;
}
