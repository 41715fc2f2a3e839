/** An error response of the server (RFC 9457), or a failed request. */
export class Problem extends Error {
  override readonly name = "Problem";

  constructor(
    /** The HTTP status; 0 without a response. */
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly errors: readonly FieldProblem[] = [],
    /** For a file read in the wrong encoding: one that fits, or null if none is known. */
    readonly encoding?: string | null,
  ) {
    super(detail || title);
  }
}

export interface FieldProblem {
  field: string;
  problem: string;
}

export const UNREACHABLE =
  "The server does not answer. Check that it is running and that you are online.";

/** Reads the problem from a response, even if the response has no details. */
export async function problemOf(response: Response): Promise<Problem> {
  const body: unknown = await response.json().catch(() => null);
  const { title, detail, errors, encoding } = (body ?? {}) as Partial<Problem>;
  return new Problem(
    response.status,
    title ?? "Request failed",
    detail ?? `The server returned ${response.status} without details.`,
    Array.isArray(errors) ? errors : [],
    encoding,
  );
}

/** Converts any error to a problem. A failed fetch has status 0. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof TypeError) return new Problem(0, "No connection", UNREACHABLE);
  return new Problem(
    0,
    "This page failed to load",
    error instanceof Error ? error.message : String(error),
  );
}
