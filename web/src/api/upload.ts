import { csrfHeaders } from "./client";
import { Problem, problemOf, UNREACHABLE } from "./problem";
import type { Preview } from "./types";

/** Fields of a job beside its files, as the API names them; values that are not text go as JSON. */
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

/** The first rows of files; nothing is kept. */
export function preview(files: readonly File[], fields: PreviewFields, signal?: AbortSignal) {
  return fetchPreview({}, form(files, fields), signal);
}

/** The first rows of a file that the server fetches from elsewhere. */
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
 * Makes a job of files; `sent` hears the share that has gone out. Answers with the job's id.
 * The same files and fields with the same `once` make one job, however often they are sent.
 */
export function createFromFiles(
  files: readonly File[],
  fields: UploadFields,
  { once, sent }: { once?: string; sent?: (share: number) => void } = {},
): Promise<string> {
  // fetch cannot tell how much of a body has gone out.
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

/** Files and fields as the body of a form. */
export function form(files: readonly File[], fields: UploadFields): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === "") continue;
    data.set(name, typeof value === "string" ? value : JSON.stringify(value));
  }
  for (const file of files) data.append("file", file);
  return data;
}
