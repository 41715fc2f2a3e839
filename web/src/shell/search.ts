/** The search parameters of a URL, as readable text. */
export type Search = Record<string, string | undefined>;

export function parseSearch(text: string): Search {
  return Object.fromEntries(new URLSearchParams(text));
}

/** Search parameters as text. Empty ones are left out. */
export function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text ? `?${text.replaceAll("%2C", ",")}` : "";
}

/** The target after a login: always a path of this page, whatever the URL says. */
export function ownPath(to: string | undefined): string {
  return to && /^\/(?![/\\])/.test(to) ? to : "/";
}

/** Keeps these search parameters as text, and drops all others. */
export function only<Name extends string>(...names: Name[]) {
  return (search: Record<string, unknown>): { [N in Name]?: string | undefined } => {
    const kept = names.filter((name) => typeof search[name] === "string" && search[name] !== "");
    return Object.fromEntries(kept.map((name) => [name, search[name]])) as {
      [N in Name]?: string | undefined;
    };
  };
}
