import type { SourcePassRequest } from "../../api";

/** What the user typed. */
export interface NewMirrorForm {
  /** The name of a shipped source, or a description as JSON. */
  source: string;
  /** One `name=value` on each line. */
  values: string;
  name: string;
  rate: string;
}

export const EMPTY_FORM: NewMirrorForm = { source: "", values: "", name: "", rate: "" };

/** The request for a form, or what is wrong with a field. */
export type Checked =
  | { request: SourcePassRequest }
  | { field: "source" | "values"; problem: string };

export function checked({ source, values, name, rate }: NewMirrorForm): Checked {
  const described = sourceIn(source.trim());
  if (described === null) {
    return {
      field: "source",
      problem: "This is not a JSON object. Check its brackets and commas.",
    };
  }
  const lines = values.split("\n").filter((line) => line.trim());
  const wrong = lines.find((line) => line.indexOf("=") < 1);
  if (wrong !== undefined) {
    return { field: "values", problem: `Write “${wrong.trim()}” as name=value.` };
  }
  const set = Object.fromEntries(lines.map(partsOfLine));
  return {
    request: {
      source: described,
      ...(lines.length ? { set } : {}),
      ...(name.trim() ? { name: name.trim() } : {}),
      ...(rate.trim() ? { rate: rate.trim() } : {}),
    } as SourcePassRequest,
  };
}

/** A name stays text; JSON becomes an object. Null: it looks like JSON and is not. */
function sourceIn(text: string): string | Record<string, unknown> | null {
  if (!text.startsWith("{")) return text;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
}

function partsOfLine(line: string): [string, string] {
  const at = line.indexOf("=");
  return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
}
