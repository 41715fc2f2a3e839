/** What went wrong, in the server's own words (RFC 9457). */
export class Problem extends Error {
  override readonly name = "Problem";

  constructor(
    /** The HTTP status; 0 when there was no answer at all. */
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly errors: readonly FieldProblem[] = [],
    /** Of a file that was read in another encoding: one that fits, null where none is known. */
    readonly encoding?: string | null,
  ) {
    super(detail || title);
  }
}

/** A field that is wrong, and how. */
export interface FieldProblem {
  field: string;
  problem: string;
}

export const UNREACHABLE =
  "The server does not answer. Check that it is running and that you are online.";

/** The problem that an answer describes, however little it says. */
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

/** Any error as a problem: a failed fetch is one without an answer. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof TypeError) return new Problem(0, "No connection", UNREACHABLE);
  return new Problem(
    0,
    "This page failed to load",
    error instanceof Error ? error.message : String(error),
  );
}
