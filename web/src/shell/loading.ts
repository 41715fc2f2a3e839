/** A part of the page failed to load: no network, or another version of Headgate. */
export class LoadFailure extends Error {
  override readonly name = "LoadFailure";

  constructor(cause: unknown) {
    super("This page failed to load", { cause });
  }
}

/** Loads a part of the page, or throws a LoadFailure. */
export async function loaded<T>(part: Promise<T>): Promise<T> {
  try {
    return await part;
  } catch (error) {
    throw new LoadFailure(error);
  }
}

const LAST_RELOAD = "headgate-reloaded-at";
const APART_MS = 20_000;

/**
 * True if the page may reload itself now. It does not do so repeatedly: if that did not help, the
 * user decides.
 */
export function mayReload(now: number, storage: Pick<Storage, "getItem" | "setItem">): boolean {
  const last = Number(storage.getItem(LAST_RELOAD) ?? Number.NEGATIVE_INFINITY);
  if (now - last < APART_MS) return false;
  storage.setItem(LAST_RELOAD, String(now));
  return true;
}

export async function isReachable(signal?: AbortSignal): Promise<boolean> {
  try {
    const response = await fetch("/api/session", { signal: signal ?? null, cache: "no-store" });
    return response.ok;
  } catch {
    return false;
  }
}
