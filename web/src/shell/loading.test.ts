import { describe, expect, it } from "vitest";
import { LoadFailure, loaded, mayReload } from "./loading";

describe("a part of the page", () => {
  it("that cannot be loaded is not a defect of the page", async () => {
    const failed = loaded(Promise.reject(new Error("Unable to preload CSS for /assets/a.css")));
    await expect(failed).rejects.toBeInstanceOf(LoadFailure);
    expect(await loaded(Promise.resolve(7))).toBe(7);
  });

  it("is not loaded again and again where that does not help", () => {
    const kept = new Map<string, string>();
    const storage = {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, value: string) => void kept.set(name, value),
    };
    expect(mayReload(1_000, storage)).toBe(true);
    expect(mayReload(5_000, storage)).toBe(false);
    expect(mayReload(60_000, storage)).toBe(true);
  });
});
