/** The default filter. */
export const OPEN = "PENDING,PROCESSING";

/** Statuses that can be listed across jobs; the others only within a job. */
export const STATUS_CHOICES = [
  { value: "", label: "Pending and processing" },
  { value: "PENDING", label: "Pending only" },
  { value: "PROCESSING", label: "Processing only" },
  { value: "ERROR", label: "Errors" },
  { value: "NOT_FOUND", label: "Not found" },
  { value: "REVIEW", label: "To review" },
];

/** The statuses in the URL, or the default. */
export function statusesOf(text: string | undefined): string[] {
  return (text || OPEN).split(",");
}

/** The day of a date field as the time of its start in the local zone. */
export function dayToMoment(day: string, { next = false } = {}): string | undefined {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day);
  if (!parts) return undefined;
  const [year, month, date] = [Number(parts[1]), Number(parts[2]) - 1, Number(parts[3])];
  return new Date(year, month, date + (next ? 1 : 0)).toISOString();
}

/** A time as the day of a date field; `next`: the day that ends with it. */
export function momentToDay(moment: string | undefined, { next = false } = {}): string {
  const at = moment ? new Date(moment) : null;
  if (!at || Number.isNaN(at.getTime())) return "";
  const day = new Date(at.getTime() - (next ? 1 : 0));
  const two = (value: number) => String(value).padStart(2, "0");
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}
