import type { Handler, JobFromSource, Preview, UploadFields } from "../../api";
import { problemIn, settingsOf } from "./settings";

export type OnBadRow = "item-error" | "skip" | "fail";

/** Import settings. Empty values are detected from the file. */
export interface Reading {
  format?: string;
  delimiter?: string;
  encoding?: string;
  sheet?: string;
}

/** A job that is being prepared. */
export interface Draft {
  files: readonly File[];
  /** URL of the file, once the user asked for its preview. */
  source: string;
  read: Reading;
  handler: string;
  /** New names of columns, by the name in the file. */
  names: Readonly<Record<string, string>>;
  /** Columns of the unique key, by the name in the file. */
  key: readonly string[];
  config: Readonly<Record<string, unknown>>;
  /** What is wrong with the configuration text. */
  configProblem: string;
  name: string;
  onBadRow: OnBadRow;
  priority: number;
  eager: boolean;
  /** Maximum age of reused results, such as "30d"; empty: no reuse. */
  reuse: string;
}

export const EMPTY_DRAFT: Draft = {
  files: [],
  source: "",
  read: {},
  handler: "",
  names: {},
  key: [],
  config: {},
  configProblem: "",
  name: "",
  onBadRow: "item-error",
  priority: 0,
  eager: false,
  reuse: "",
};

export function hasRows({ files, source }: Draft): boolean {
  return files.length > 0 || source !== "";
}

/** The draft as upload fields. */
export function fieldsOf(draft: Draft): UploadFields {
  return { ...shared(draft), key: keyOf(draft).join(",") };
}

/** The draft as a request with a source. */
export function bodyOf(draft: Draft): JobFromSource {
  return { ...shared(draft), key: keyOf(draft), source: draft.source };
}

function shared(draft: Draft) {
  return {
    handler: draft.handler,
    name: draft.name.trim(),
    config: { ...draft.config },
    read: { ...draft.read },
    columns: changed(draft.names),
    onBadRow: draft.onBadRow,
    priority: draft.priority,
    eager: draft.eager,
    ...(draft.reuse ? { reuse: draft.reuse } : {}),
  };
}

function keyOf({ key, names }: Draft): string[] {
  return key.map((column) => named(names, column));
}

/** The new name of a column. */
export function named(names: Draft["names"], column: string): string {
  return names[column]?.trim() || column;
}

function changed(names: Draft["names"]): Record<string, string> {
  const others = Object.entries(names).filter(([from, to]) => to.trim() && to.trim() !== from);
  return Object.fromEntries(others.map(([from, to]) => [from, to.trim()]));
}

/** Why the job cannot start yet; empty if it can. */
export function blockers(
  draft: Draft,
  preview: Preview | undefined,
  handler: Handler | undefined,
): string[] {
  const found: string[] = [];
  if (!hasRows(draft)) found.push("Add a file.");
  else if (!preview) found.push("Wait until the first rows are read.");
  if (!handler) found.push("Choose a handler.");
  if (preview && handler) found.push(...columnTrouble(draft, preview, handler));
  for (const name of missingFields(handler, draft.config))
    found.push(`Enter “${name}”: the handler requires it.`);
  if (draft.configProblem) found.push(draft.configProblem);
  found.push(...limitTrouble(handler, draft.config));
  if (preview?.misread) found.push("Choose the encoding of the file. It is not UTF-8.");
  else if (preview) found.push(...rowTrouble(draft, preview));
  return found;
}

function columnTrouble(draft: Draft, preview: Preview, handler: Handler): string[] {
  const columns = preview.columns.map((column) => named(draft.names, column));
  const twice = columns.find((column, index) => columns.indexOf(column) !== index);
  const missing = handler.needs.filter((need) => !columns.includes(need));
  return [
    ...missing.map((need) => `Choose the column for “${need}”: the handler requires it.`),
    ...(twice === undefined ? [] : [`Two columns are named “${twice}”. Rename one.`]),
  ];
}

function rowTrouble({ onBadRow }: Draft, { problems, rows }: Preview): string[] {
  const [first] = problems;
  if (!first) return [];
  if (problems.length >= rows.length) return ["No row is valid. Check the import settings."];
  const text = `Line ${first.row} is invalid, and you chose to stop at invalid rows: ${first.problem}`;
  return onBadRow === "fail" ? [text] : [];
}

/** Settings outside the handler's limits. */
function limitTrouble(handler: Handler | undefined, config: Draft["config"]): string[] {
  return (settingsOf(handler?.configSchema) ?? []).flatMap((setting) => {
    const problem = problemIn(setting, config[setting.name]);
    return problem ? [`“${setting.label}” ${problem}.`] : [];
  });
}

/** Required settings without a value. */
function missingFields(handler: Handler | undefined, config: Draft["config"]): string[] {
  const required = (handler?.configSchema as { required?: unknown } | null)?.required;
  if (!Array.isArray(required)) return [];
  return required.filter((name) => config[name] === undefined || config[name] === "");
}

type Names = Draft["names"];

/** Suggested names for columns that differ from the handler's needs only in spelling. */
export function suggested(columns: readonly string[], needs: readonly string[]): Names {
  const names: Record<string, string> = {};
  for (const need of needs) {
    if (columns.includes(need)) continue;
    const alike = columns.find((column) => plain(column) === plain(need) && !names[column]);
    if (alike !== undefined) names[alike] = need;
  }
  return names;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

/** The column with that new name. */
export function columnFor(columns: readonly string[], names: Names, name: string): string {
  return columns.find((column) => named(names, column) === name) ?? "";
}

/** Names after a column was chosen (none: ""). A column that had the name before loses it. */
export function withColumn(
  columns: readonly string[],
  names: Names,
  name: string,
  chosen: string,
): Names {
  const before = columnFor(columns, names, name);
  const next = { ...names };
  if (before && before !== chosen) {
    if (before === name) next[before] = `${name}_original`;
    else delete next[before];
  }
  if (!chosen) return next;
  if (chosen === name) delete next[chosen];
  else next[chosen] = name;
  return next;
}
