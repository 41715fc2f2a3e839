/** How long an operator's change applies. */
export const TERMS = [
  { value: "900", label: "For 15 minutes" },
  { value: "3600", label: "For 1 hour" },
  { value: "28800", label: "For 8 hours" },
  { value: "86400", label: "For 1 day" },
  { value: "", label: "Until I remove it" },
];

/** The default: a forgotten change ends after an hour. */
export const USUAL_TERM = "3600";

/** The duration as the API takes it; without one, the change applies until it is removed. */
export function termOf(value: string): { forS?: number } {
  return value ? { forS: Number(value) } : {};
}
