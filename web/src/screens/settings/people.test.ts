import { describe, expect, it } from "vitest";
import type { User } from "../../api";
import { lifeOf, rolesUpTo } from "./choices";
import { actionsOf } from "./userColumns";

const user = (change: Partial<User> = {}): User => ({
  name: "ann",
  role: "user",
  hasPassword: true,
  createdAt: "2026-03-01T12:00:00+00:00",
  disabledAt: null,
  ...change,
});
const nothing = () => {};
const labels = (of: User, me: string) =>
  actionsOf(of, { me, onChange: nothing, onDisable: nothing }).map(({ label }) => label);

describe("what may be done about a user", () => {
  it("is to lock them out, but never oneself", () => {
    expect(labels(user(), "bob")).toContain("Disable…");
    expect(labels(user(), "ann")).not.toContain("Disable…");
  });

  it("is to let them in again once they are locked out", () => {
    const gone = user({ disabledAt: "2026-03-02T12:00:00+00:00" });
    expect(labels(gone, "bob")).toEqual(["Enable…"]);
  });
});

describe("a new token", () => {
  it("never may more than whoever makes it", () => {
    expect(rolesUpTo("viewer").map(({ value }) => value)).toEqual(["viewer"]);
    expect(rolesUpTo("admin").map(({ value }) => value)).toEqual(["viewer", "user", "admin"]);
  });

  it("ends by itself unless it is wanted for ever", () => {
    expect(lifeOf("86400")).toEqual({ expiresInS: 86_400 });
    expect(lifeOf("")).toEqual({});
  });
});
