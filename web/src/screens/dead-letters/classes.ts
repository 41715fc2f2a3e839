import { FAULT_CLASSES } from "../../api";

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
    label: `${name}: ${lower(WORDS[name])}`,
  })),
];

function lower(words: string): string {
  return words.charAt(0).toLowerCase() + words.slice(1);
}
