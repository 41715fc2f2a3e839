import type { Attempt, Call, Item, ItemWhole, Rows } from "../../api";
import { grouped } from "../../design";

/** The title of an item: its key, and its row if that adds something. */
export function titleOf(
  item: Pick<ItemWhole, "key" | "summary"> | undefined,
  itemId: string,
): string {
  if (!item?.key) return `Item ${itemId}`;
  const { key, summary } = item;
  const more = summary.startsWith(key) ? summary.slice(key.length).replace(/^ · /, "") : summary;
  return more ? `${key} · ${more}` : `Item ${key}`;
}

/** A call as a curl command; masked secrets appear as ***. */
export function curlOf({ verb, url }: Pick<Call, "verb" | "url">): string | null {
  if (!url) return null;
  const method = verb === "GET" ? "" : ` -X ${verb}`;
  return `curl${method} ${quoted(url)}`;
}

/** A request to our own API as a curl command; the user supplies the token. */
export function curlOfApi(origin: string, path: string): string {
  return `curl -H "Authorization: Bearer $HEADGATE_TOKEN" ${quoted(origin + path)}`;
}

/** Text quoted for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The items before and after one, among the loaded rows. */
export function neighboursOf(
  rows: Pick<Rows<Item>, "count" | "row">,
  itemId: string,
  hint: number | null,
): { index: number | null; previous: string | undefined; next: string | undefined } {
  const index = indexOf(rows, itemId, hint);
  if (index === null) return { index, previous: undefined, next: undefined };
  return { index, previous: rows.row(index - 1)?.id, next: rows.row(index + 1)?.id };
}

function indexOf(rows: Pick<Rows<Item>, "count" | "row">, itemId: string, hint: number | null) {
  // Rows move while the drawer is open: look at the old place first, then everywhere.
  if (hint !== null && rows.row(hint)?.id === itemId) return hint;
  for (let index = 0; index < rows.count; index += 1) {
    if (rows.row(index)?.id === itemId) return index;
  }
  return null;
}

/** Outcomes that do not count as an attempt. */
const FREE_OUTCOMES = new Set(["crashed", "deferred", "handed_back", "throttled"]);

export function isCounted({ outcome }: Attempt): boolean {
  return !FREE_OUTCOMES.has(outcome);
}

/** Number of attempts in words. The history also lists executions that do not count. */
export function attemptsInWords(attempts: number, history: readonly Attempt[]): string {
  const free = history.filter((each) => !isCounted(each)).length;
  return free
    ? `Attempts (${grouped(attempts)}, and ${grouped(free)} not counted)`
    : `Attempts (${grouped(attempts)})`;
}

/** Time of an attempt by phase, in ms. */
export interface Split {
  /** From the end of the previous attempt until a worker claimed the item again. */
  retry: number;
  /** Claimed by a worker, not yet started. */
  queue: number;
  /** Requests waiting at a gate. */
  gate: number;
  /** Requests on the network. */
  network: number;
  /** The handler's own time. */
  work: number;
}

export const PARTS = ["retry", "queue", "gate", "network", "work"] as const;

/** The phases of an attempt; `before` is the previous one. */
export function splitOf(attempt: Attempt, before: Attempt | undefined): Split {
  const ran = Math.max(0, attempt.ranMs);
  const [waited, network] = within(ran, gateOf(attempt.calls), networkOf(attempt.calls));
  const rest = Math.max(0, ran - waited - network);
  // A request that never passed the gate has no call: the rest of such an attempt was waiting.
  const isThrottled = attempt.outcome === "throttled";
  return {
    retry: before ? Math.max(0, ms(attempt.leasedAt) - ms(before.endedAt)) : 0,
    queue: Math.max(0, attempt.waitedMs),
    gate: waited + (isThrottled ? rest : 0),
    network,
    work: isThrottled ? 0 : rest,
  };
}

export function totalOf(split: Split): number {
  return PARTS.reduce((sum, part) => sum + split[part], 0);
}

function gateOf(calls: readonly Call[]): number {
  return calls.reduce((sum, { waitedMs }) => sum + waitedMs, 0);
}

/** Cached responses used no network. */
function networkOf(calls: readonly Call[]): number {
  return calls.reduce((sum, { kind, ranMs }) => (kind === "cached" ? sum : sum + ranMs), 0);
}

/** Scales two parts to fit a whole: parallel requests add up to more time than passed. */
function within(whole: number, one: number, other: number): [number, number] {
  const sum = one + other;
  const scale = sum > whole && sum > 0 ? whole / sum : 1;
  return [one * scale, other * scale];
}

function ms(moment: string | null): number {
  return moment ? new Date(moment).getTime() : 0;
}
