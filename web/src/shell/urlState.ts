import { useNavigate } from "@tanstack/react-router";
import { useCallback, useState } from "react";

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

/** Parameters that do not change which rows are listed. */
const NOT_FILTERS = ["item", "columns", "row", "pass"];

/**
 * Changes search parameters. A cursor belongs to its filter and is dropped with it. `push` adds a
 * history entry: for drawers and tabs, not for filters.
 */
export function useFilter() {
  const navigate = useNavigate();
  return useCallback(
    (change: Record<string, string | undefined>, { push = false } = {}) => {
      const isBeside = Object.keys(change).every((name) => NOT_FILTERS.includes(name));
      void navigate({
        to: ".",
        search: (old: object) => ({ ...old, ...(isBeside ? {} : { after: undefined }), ...change }),
        replace: !push,
      });
    },
    [navigate],
  );
}

/**
 * The start of a list that a link may point into. `after` is the cursor in the URL when the page
 * opens; scrolling updates it there without reloading, and a new filter drops it.
 */
export function useCursor(filter: string, after: string | undefined) {
  const navigate = useNavigate();
  const [started, setStarted] = useState({ filter, start: after });
  const start = started.filter === filter ? started.start : undefined;
  if (started.filter !== filter) setStarted({ filter, start: undefined });

  const onTop = useCallback(
    (cursor: string | undefined) => {
      if (cursor === after) return;
      void navigate({
        to: ".",
        search: (old: object) => ({ ...old, after: cursor }),
        replace: true,
        resetScroll: false,
      });
    },
    [navigate, after],
  );
  const toStart = useCallback(() => {
    setStarted({ filter, start: undefined });
    onTop(undefined);
  }, [filter, onTop]);
  return { start, onTop, toStart };
}
