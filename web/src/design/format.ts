const GROUPED = new Intl.NumberFormat("en-US");
const RATE = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });
const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** 1,234,567 */
export function grouped(value: number): string {
  return GROUPED.format(value);
}

/** 1 item, 1,204 items */
export function counted(many: number, one: string): string {
  return `${grouped(many)} ${one}${many === 1 ? "" : "s"}`;
}

/** 12.3/s, or 4.1/min for slow rates. */
export function perSecond(rate: number | null | undefined): string {
  if (rate === null || rate === undefined) return "–";
  if (rate === 0) return "0/s";
  return rate < 0.5 ? `${RATE.format(rate * 60)}/min` : `${RATE.format(rate)}/s`;
}

/** 12 %; a share above 0 is never shown as 0. */
export function percent(share: number): string {
  if (share > 0 && share < 0.001) return "< 0.1 %";
  return `${new Intl.NumberFormat("en-US", { maximumFractionDigits: share < 0.1 ? 1 : 0 }).format(share * 100)} %`;
}

/** 1.2 MB */
export function bytes(size: number): string {
  let [value, unit] = [size, 0];
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

/** 850 ms, 4.2 s, 3 min, 2 h 5 min, 4 d. */
export function duration(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10 && !Number.isInteger(seconds)) return `${seconds.toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return `${Math.round(hours / 24)} d`;
}

/** Starts with the name of a file, a host or a setting, whose case is kept. */
const NAMED = /^(?:\S*[._/\\:@\d][^\s:;,]|[^.:;]{1,250}\.[a-z0-9]{2,7}\b\s)/i;

/** Text as a sentence: starts with a capital, unless with a name, and ends with a full stop. */
export function sentence(text: string): string {
  const capitalised = NAMED.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(capitalised) ? capitalised : `${capitalised}.`;
}

/** A stored value as one line of text: scalars as they are, others as JSON. */
export function inLine(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The fields of a stored object; empty for other values. */
export function partsOf(value: unknown): Readonly<Record<string, unknown>> {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : {};
}

export function classes(...names: (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(" ");
}
