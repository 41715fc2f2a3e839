import type { Call } from "../../api";

/** A call as a command; secrets in it are masked, and stand as *** where they were. */
export function curlOf({ verb, url }: Pick<Call, "verb" | "url">): string | null {
  if (!url) return null;
  const method = verb === "GET" ? "" : ` -X ${verb}`;
  return `curl${method} ${quoted(url)}`;
}

/** A question to our own API as a command; the token is left for whoever runs it to fill in. */
export function curlOfApi(origin: string, path: string): string {
  return `curl -H "Authorization: Bearer $HEADGATE_TOKEN" ${quoted(origin + path)}`;
}

/** Text that a shell takes as it is. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
