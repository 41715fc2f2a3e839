import createClient from "openapi-fetch";
import { asProblem, problemOf } from "./problem";
import type { paths } from "./schema";

let csrf: string | null = null;

/** Stores the CSRF token from `/api/me` or `/api/login`. */
export function setCsrf(value: string | null): void {
  csrf = value;
}

/** Headers of a changing request, for code that calls `fetch` directly. */
export function csrfHeaders(): Record<string, string> {
  return csrf ? { "X-CSRF-Token": csrf } : {};
}

/** The typed client. Every call throws a Problem unless the response is a success. */
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

/** Returns the data of a response. A call without a success response has already thrown. */
export async function dataOf<T>(call: Promise<{ data?: T }>): Promise<T> {
  return (await call).data as T;
}

type WithoutUndefined<T> = { [Name in keyof T]: Exclude<T[Name], undefined> };

/** Drops undefined and empty values from a query. */
export function query<T extends object>(values: T): WithoutUndefined<T> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(given) as WithoutUndefined<T>;
}
