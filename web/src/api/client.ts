import createClient from "openapi-fetch";
import { asProblem, problemOf } from "./problem";
import type { paths } from "./schema";

let csrf: string | null = null;

/** The csrfHeaders that a change comes from our own page; `/api/me` and `/api/login` tell it. */
export function setCsrf(value: string | null): void {
  csrf = value;
}

/** Headers of a request that changes something, for those who call `fetch` themselves. */
export function csrfHeaders(): Record<string, string> {
  return csrf ? { "X-CSRF-Token": csrf } : {};
}

/** The typed client. Every call throws a Problem unless the server said yes. */
export const api = createClient<paths>({ baseUrl: globalThis.location?.origin ?? "" });

api.use({
  onRequest({ request }) {
    if (request.method !== "GET" && csrf) request.headers.set("X-CSRF-Token", csrf);
    return request;
  },
  async onResponse({ response }) {
    if (!response.ok) throw await problemOf(response);
    return response;
  },
  onError({ error }) {
    return isAbort(error) ? undefined : asProblem(error);
  },
});

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** What a call brought: it threw if there was no answer of the promised kind. */
export async function dataOf<T>(call: Promise<{ data?: T }>): Promise<T> {
  return (await call).data as T;
}

type Given<T> = { [Name in keyof T]: Exclude<T[Name], undefined> };

/** A query without what is undefined: the server takes a parameter or does not hear of it. */
export function query<T extends object>(values: T): Given<T> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(given) as Given<T>;
}
