import { csrfHeaders } from "./client";
import { Problem, problemOf, UNREACHABLE } from "./problem";
import type { Preview } from "./types";

/** Fields of a job beside its files. Values that are not text are sent as JSON. */
export interface UploadFields {
  handler?: string;
  name?: string;
  key?: string;
  config?: Record<string, unknown>;
  read?: Record<string, unknown>;
  columns?: Record<string, string>;
  onBadRow?: string;
  priority?: number;
  eager?: boolean;
  reuse?: string;
}

type PreviewFields = Pick<UploadFields, "handler" | "read" | "columns">;

export function preview(files: readonly File[], fields: PreviewFields, signal?: AbortSignal) {
  return fetchPreview({}, form(files, fields), signal);
}

/** The first rows of a file that the server fetches. */
export function previewSource(source: string, fields: PreviewFields, signal?: AbortSignal) {
  const json = { "Content-Type": "application/json" };
  return fetchPreview(json, JSON.stringify({ ...fields, source }), signal);
}

async function fetchPreview(
  headers: Record<string, string>,
  body: BodyInit,
  signal: AbortSignal | undefined,
): Promise<Preview> {
  const response = await fetch("/api/preview", {
    method: "POST",
    headers: { ...headers, ...csrfHeaders() },
    body,
    signal: signal ?? null,
  });
  if (!response.ok) throw await problemOf(response);
  return (await response.json()) as Preview;
}

/**
 * Creates a job from files and returns its id. `sent` receives the share that was uploaded.
 * Repeating it with the same `once` does not create a second job.
 */
export function createFromFiles(
  files: readonly File[],
  fields: UploadFields,
  { once, sent }: { once?: string; sent?: (share: number) => void } = {},
): Promise<string> {
  // fetch does not report upload progress.
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", "/api/jobs");
    for (const [name, value] of Object.entries(csrfHeaders()))
      request.setRequestHeader(name, value);
    if (once) request.setRequestHeader("Idempotency-Key", once);
    request.upload.onprogress = (event) => sent?.(event.total ? event.loaded / event.total : 0);
    request.onerror = () => reject(new Problem(0, "No connection", UNREACHABLE));
    request.onload = async () => {
      const response = new Response(request.responseText, { status: request.status });
      if (response.ok) resolve(((await response.json()) as { jobId: string }).jobId);
      else reject(await problemOf(response));
    };
    request.send(form(files, fields));
  });
}

export function form(files: readonly File[], fields: UploadFields): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === "") continue;
    data.set(name, typeof value === "string" ? value : JSON.stringify(value));
  }
  for (const file of files) data.append("file", file);
  return data;
}
