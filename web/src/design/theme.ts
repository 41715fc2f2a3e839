import { useSyncExternalStore } from "react";

/** `auto` follows the system. */
export type Theme = "auto" | "light" | "dark";

const PLACE = "headgate.theme";
const DARK = "(prefers-color-scheme: dark)";
const watchers = new Set<() => void>();

function chosenTheme(): Theme {
  const kept = localStorage.getItem(PLACE);
  return kept === "light" || kept === "dark" ? kept : "auto";
}

/** Applies and stores a theme. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(PLACE, theme);
  applyTheme();
  for (const watcher of watchers) watcher();
}

/** Applies the stored theme, or the system's. */
function applyTheme(): void {
  const theme = chosenTheme();
  const system = matchMedia(DARK).matches ? "dark" : "light";
  document.documentElement.dataset.theme = theme === "auto" ? system : theme;
}

/** Applies the theme now and whenever the system's changes. */
export function followTheme(): void {
  applyTheme();
  matchMedia(DARK).addEventListener("change", applyTheme);
}

/** The chosen theme; updates when it changes. */
export function useTheme(): Theme {
  return useSyncExternalStore((watcher) => {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  }, chosenTheme);
}
