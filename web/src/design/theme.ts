import { useSyncExternalStore } from "react";

/** `auto` follows the system. */
export type Theme = "auto" | "light" | "dark";

const PLACE = "headgate.theme";
const watchers = new Set<() => void>();

/** The theme that was chosen on this machine. */
export function chosenTheme(): Theme {
  const kept = localStorage.getItem(PLACE);
  return kept === "light" || kept === "dark" ? kept : "auto";
}

/** Takes a theme at once, and for the next time. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(PLACE, theme);
  applyTheme();
  for (const watcher of watchers) watcher();
}

/** Puts the chosen theme on the page. */
export function applyTheme(): void {
  const theme = chosenTheme();
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** The chosen theme, told anew when it changes. */
export function useTheme(): Theme {
  return useSyncExternalStore((watcher) => {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  }, chosenTheme);
}
