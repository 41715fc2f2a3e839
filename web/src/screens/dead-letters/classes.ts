import { FAULT_CLASSES } from "../../api";

type FaultClass = (typeof FAULT_CLASSES)[number];

const WORDS: Record<FaultClass, string> = {
  transient: "It may well work another time",
  throttled: "The service asked for less",
  deferred: "The handler asked to try later",
  permanent: "The same request would fail again",
  timeout: "It took too long",
  stalled: "It stood still",
  crashed: "It was running when its process crashed",
  poison: "It ended its process",
  invalid_result: "The handler’s answer cannot be stored",
  bad_row: "The row of the file is bad",
};

/** What a class of failures means. */
export function classInWords(name: string): string {
  return WORDS[name as FaultClass] ?? name;
}

/** Every class of failures, to choose from. */
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
