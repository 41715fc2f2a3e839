/** One setting of a handler, as its JSON Schema describes it. */
export interface Setting {
  name: string;
  label: string;
  about: string;
  kind: "text" | "password" | "number" | "switch" | "choice" | "json";
  choices: readonly string[];
  required: boolean;
  standard: unknown;
  /** Limits of a number, or of the length of a text; undefined: none. */
  min: number | undefined;
  max: number | undefined;
  isWhole: boolean;
}

interface Property {
  minimum?: unknown;
  maximum?: unknown;
  minLength?: unknown;
  maxLength?: unknown;
  type?: unknown;
  title?: unknown;
  description?: unknown;
  default?: unknown;
  enum?: unknown;
  format?: unknown;
  writeOnly?: unknown;
}

/** The settings of a schema; null if it names none and any are allowed. */
export function settingsOf(schema: object | null | undefined): Setting[] | null {
  const { properties, required } = (schema ?? {}) as { properties?: unknown; required?: unknown };
  if (typeof properties !== "object" || properties === null) return null;
  const needed: unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(properties as Record<string, Property>).map(([name, property]) => ({
    name,
    label: text(property.title) || name,
    about: text(property.description),
    kind: kindOf(property),
    choices: Array.isArray(property.enum) ? property.enum.map(String) : [],
    required: needed.includes(name),
    standard: property.default,
    min: numberIn(property.type === "string" ? property.minLength : property.minimum),
    max: numberIn(property.type === "string" ? property.maxLength : property.maximum),
    isWhole: property.type === "integer",
  }));
}

function numberIn(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** Allowed values in a few words; empty if all are. */
export function limitsOf({ kind, min, max }: Setting): string {
  const what = kind === "number" ? "" : " characters";
  if (min !== undefined && max !== undefined) return `${min} to ${max}${what}.`;
  if (min !== undefined) return `At least ${min}${what}.`;
  return max === undefined ? "" : `At most ${max}${what}.`;
}

/** What is wrong with a value; empty if nothing is. The server has the last word. */
export function problemIn({ kind, min, max, isWhole }: Setting, value: unknown): string {
  if (value === undefined || value === "") return "";
  const isNumber = typeof value === "number";
  if (kind === "number" && !isNumber) return "must be a number";
  if (!isNumber && typeof value !== "string") return "";
  if (isNumber && isWhole && !Number.isInteger(value)) return "must be a whole number";
  const size = isNumber ? value : value.length;
  const what = isNumber ? "be" : "have";
  const unit = isNumber ? "" : " characters";
  if (min !== undefined && size < min) return `must ${what} at least ${min}${unit}`;
  if (max !== undefined && size > max) return `must ${what} at most ${max}${unit}`;
  return "";
}

function kindOf({ type, enum: choices, format, writeOnly }: Property): Setting["kind"] {
  if (Array.isArray(choices) && choices.every((each) => typeof each === "string")) return "choice";
  if (type === "boolean") return "switch";
  if (type === "number" || type === "integer") return "number";
  if (type !== "string") return "json";
  return format === "password" || writeOnly === true ? "password" : "text";
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Parses JSON: its value, or the problem. Empty text has neither. */
export function parsed(written: string): { value?: unknown; problem: string } {
  if (!written.trim()) return { problem: "" };
  try {
    return { value: JSON.parse(written), problem: "" };
  } catch (error) {
    return { problem: `This is not JSON: ${error instanceof Error ? error.message : error}` };
  }
}

/** A configuration with one setting changed. Empty values are left out. */
export function withSetting(config: object, name: string, value: unknown): Record<string, unknown> {
  const next: Record<string, unknown> = { ...config, [name]: value };
  if (value === undefined || value === "") delete next[name];
  return next;
}

export const ENCODINGS = [
  { value: "", label: "Auto-detect" },
  { value: "utf-8", label: "UTF-8" },
  { value: "cp1252", label: "Windows-1252" },
  { value: "latin-1", label: "Latin-1 (Western Europe)" },
  { value: "cp1250", label: "Windows-1250 (Central Europe)" },
  { value: "cp1251", label: "Windows-1251 (Cyrillic)" },
  { value: "shift_jis", label: "Shift JIS" },
  { value: "gb18030", label: "GB 18030" },
] as const;
