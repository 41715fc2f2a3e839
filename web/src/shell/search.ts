/** What stands behind the `?` of a URL: plain names and plain text, as people would write it. */
export type Search = Record<string, string | undefined>;

/** The search of a URL as values. */
export function parseSearch(text: string): Search {
  return Object.fromEntries(new URLSearchParams(text));
}

/** Values as the search of a URL; what is empty is left out. */
export function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text ? `?${text.replaceAll("%2C", ",")}` : "";
}

/** Where to go on: only ever a path of this page, whatever the URL says. */
export function ownPath(to: string | undefined): string {
  return to && /^\/(?![/\\])/.test(to) ? to : "/";
}

/** Keeps these names of a search, as text; whatever else somebody wrote there is passed over. */
export function only<Name extends string>(...names: Name[]) {
  return (search: Record<string, unknown>): { [N in Name]?: string | undefined } => {
    const kept = names.filter((name) => typeof search[name] === "string" && search[name] !== "");
    return Object.fromEntries(kept.map((name) => [name, search[name]])) as {
      [N in Name]?: string | undefined;
    };
  };
}
