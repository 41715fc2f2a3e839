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

/** Takes a theme at once, and for the next time. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(PLACE, theme);
  applyTheme();
  for (const watcher of watchers) watcher();
}

/** Puts the chosen theme on the page, and the system's where none is chosen. */
function applyTheme(): void {
  const theme = chosenTheme();
  const system = matchMedia(DARK).matches ? "dark" : "light";
  document.documentElement.dataset.theme = theme === "auto" ? system : theme;
}

/** Does so at once, and again whenever the system changes its mind. */
export function followTheme(): void {
  applyTheme();
  matchMedia(DARK).addEventListener("change", applyTheme);
}

/** The chosen theme, told anew when it changes. */
export function useTheme(): Theme {
  return useSyncExternalStore((watcher) => {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  }, chosenTheme);
}
