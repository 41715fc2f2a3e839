/** How long an operator's word holds. */
export const TERMS = [
  { value: "900", label: "For 15 minutes" },
  { value: "3600", label: "For 1 hour" },
  { value: "28800", label: "For 8 hours" },
  { value: "86400", label: "For 1 day" },
  { value: "", label: "Until I remove it" },
];

/** What is chosen unless somebody chooses: a word that is forgotten ends by itself. */
export const USUAL_TERM = "3600";

/** The term as the server takes it; without one, the word holds until it is taken back. */
export function termOf(value: string): { forS?: number } {
  return value ? { forS: Number(value) } : {};
}
