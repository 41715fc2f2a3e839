import { afterEach, expect, test, vi } from "vitest";
import { chooseTheme, followTheme } from "./theme";

const page = document.documentElement;

function systemIs(dark: boolean) {
  const heard: (() => void)[] = [];
  vi.stubGlobal("matchMedia", () => ({
    matches: dark,
    addEventListener: (_: string, hear: () => void) => heard.push(hear),
  }));
  return heard;
}

afterEach(() => {
  localStorage.clear();
  vi.unstubAllGlobals();
});

test("follows the system, also when it changes", () => {
  const heard = systemIs(true);
  followTheme();
  expect(page.dataset.theme).toBe("dark");
  systemIs(false);
  for (const hear of heard) hear();
  expect(page.dataset.theme).toBe("light");
});

test("the choice of a user goes before the system", () => {
  systemIs(true);
  chooseTheme("light");
  expect(page.dataset.theme).toBe("light");
  chooseTheme("auto");
  expect(page.dataset.theme).toBe("dark");
});
