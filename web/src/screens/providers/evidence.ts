import type { Gate } from "../../api";

export type Line = Gate["evidence"][number];

/** What the limiter calls what it has seen, and how a person would say it. */
const SEEN: readonly [RegExp, string][] = [
  [/^single request refused\b/, "the one request that asked was refused"],
  [/^surprise,/, "without a try for more,"],
  [/^trickle,/, "only some got through,"],
  [/^enough,/, "the level is known well enough,"],
  [/^first,/, "for the first time,"],
  [/^second,/, "for the second time,"],
  [/^found,/, "the limit was found,"],
  [/^back,/, "an earlier limit is back,"],
  [/^between,/, "the limit lies between the last two,"],
  [/^probe, burst,/, "a try for more met a burst,"],
  [/^probe,/, "a try for more,"],
  [/^ban\?,/, "it may be a ban,"],
  [/^window (\S+) in (\S+) s,/, "it counts $1 in $2 s,"],
];

const DECIDED: readonly [RegExp, string][] = [
  [/^ask in ([\d.]+) s$/, "one request asks again in $1 s"],
  [/^hold for (\d+) s$/, "stays just below it for $1 s"],
  [/^look soon$/, "goes there, and looks again soon"],
  [/^believe it no longer$/, "no longer believes what it is told"],
];

/** What was seen, in words; what has no words here comes as the server says it. */
export function seenInWords(seen: string): string {
  return capital(reworded(seen, SEEN));
}

/** What was made of it, in words. */
export function decidedInWords(decided: string): string {
  return reworded(decided, DECIDED);
}

/** Whether the rate is another one since. */
export function isStep({ before, after }: Pick<Line, "before" | "after">): boolean {
  return after !== null && before !== after;
}

function reworded(text: string, words: readonly [RegExp, string][]): string {
  const found = words.find(([pattern]) => pattern.test(text));
  return found ? text.replace(found[0], found[1]) : text;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
