import type { Role } from "../../api";

const ROLES: readonly { value: Role; label: string }[] = [
  { value: "viewer", label: "Viewer – read only" },
  { value: "user", label: "User – create and manage own jobs" },
  { value: "admin", label: "Admin – everything" },
];

/** Roles that a user of this role may give. */
export function rolesUpTo(role: Role) {
  return ROLES.slice(0, ROLES.findIndex(({ value }) => value === role) + 1);
}

const DAY_S = 86_400;

/** Lifetimes of a token. */
export const LIVES = [
  { value: String(7 * DAY_S), label: "In 7 days" },
  { value: String(30 * DAY_S), label: "In 30 days" },
  { value: String(90 * DAY_S), label: "In 90 days" },
  { value: String(366 * DAY_S), label: "In 1 year" },
  { value: "", label: "Never" },
];
export const USUAL_LIFE = String(90 * DAY_S);

/** The lifetime as the API takes it. */
export function lifeOf(value: string): { expiresInS?: number } {
  return value ? { expiresInS: Number(value) } : {};
}
