import { type DeadLetterFilter, FAULT_CLASSES, type ReplayRequest } from "../../api";
import { grouped, type Selection } from "../../design";

type FaultClass = (typeof FAULT_CLASSES)[number];

const WORDS: Record<FaultClass, string> = {
  transient: "May succeed on a retry",
  throttled: "The service asked to slow down",
  deferred: "The handler asked to try later",
  permanent: "The same request would fail again",
  timeout: "Took too long",
  stalled: "Made no progress",
  crashed: "Was running when its process crashed",
  poison: "Crashed its process",
  invalid_result: "The handler’s result cannot be stored",
  bad_row: "The row in the file is invalid",
};

export function classInWords(name: string): string {
  return WORDS[name as FaultClass] ?? name;
}

export const CLASS_CHOICES = [
  { value: "", label: "All classes" },
  ...FAULT_CLASSES.map((name) => ({
    value: name as string,
    label: `${name}: ${lowerFirst(WORDS[name])}`,
  })),
];

function lowerFirst(words: string): string {
  return words.charAt(0).toLowerCase() + words.slice(1);
}

/** The replay request for the selection. `everything` means all that match the filter. */
export function replayOf(
  { everything, ids }: Pick<Selection, "everything" | "ids">,
  { errorClass, jobType }: DeadLetterFilter,
): ReplayRequest {
  if (!everything) return { itemIds: [...ids] };
  return {
    all: true,
    ...(ids.size ? { exceptIds: [...ids] } : {}),
    ...(errorClass ? { errorClass } : {}),
    ...(jobType ? { jobType } : {}),
  };
}

export const EVERYTHING: Pick<Selection, "everything" | "ids"> = {
  everything: true,
  ids: new Set<string>(),
};

export function inWords({ all, errorClass, jobType, exceptIds }: ReplayRequest): string {
  if (!all) return "The rows that you selected.";
  const what = errorClass ? `of class “${errorClass}” ` : "";
  const where = jobType ? `in jobs of type “${jobType}”` : "in all jobs";
  const but = exceptIds?.length ? `, except ${grouped(exceptIds.length)}` : "";
  return `All dead letters ${what}${where}${but}.`;
}
