import { describe, expect, it } from "vitest";
import { asProblem, Problem, problemOf, UNREACHABLE } from "./problem";

describe("a problem", () => {
  it("is told in the server's words", async () => {
    const body = { title: "Forbidden", detail: "only admins can do this", status: 403 };
    const problem = await problemOf(new Response(JSON.stringify(body), { status: 403 }));
    expect([problem.status, problem.title, problem.detail]).toEqual([
      403,
      "Forbidden",
      "only admins can do this",
    ]);
  });

  it("says something even where the answer does not", async () => {
    const problem = await problemOf(new Response("<html>", { status: 502 }));
    expect(problem.detail).toContain("502");
  });

  it("is a missing answer when the fetch itself failed", () => {
    expect(asProblem(new TypeError("Failed to fetch")).detail).toBe(UNREACHABLE);
    const known = new Problem(409, "Conflict", "it is done");
    expect(asProblem(known)).toBe(known);
  });
});
