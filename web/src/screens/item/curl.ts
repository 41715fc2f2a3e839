import type { Call } from "../../api";

/** A call as a curl command; masked secrets appear as ***. */
export function curlOf({ verb, url }: Pick<Call, "verb" | "url">): string | null {
  if (!url) return null;
  const method = verb === "GET" ? "" : ` -X ${verb}`;
  return `curl${method} ${quoted(url)}`;
}

/** A request to our own API as a curl command; the user supplies the token. */
export function curlOfApi(origin: string, path: string): string {
  return `curl -H "Authorization: Bearer $HEADGATE_TOKEN" ${quoted(origin + path)}`;
}

/** Text quoted for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
