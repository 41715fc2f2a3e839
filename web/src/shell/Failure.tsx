import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import { useCallback, useEffect, useState } from "react";
import { Problem, useMe } from "../api";
import { EmptyState, ErrorState, Screen } from "../design";
import { isReachable, LoadFailure, mayReload } from "./loading";

/** A screen that failed; the rest of the page still works. */
export function Failure({ error, reset }: ErrorComponentProps) {
  if (error instanceof LoadFailure) return <NotLoaded />;
  return <ErrorState error={error} retry={reset} />;
}

const EVERY_MS = 3_000;

/** A screen whose code did not load. The page reloads once the server answers. */
function NotLoaded() {
  const [isThere, setThere] = useState<boolean | null>(null);
  const check = useCallback(async (signal?: AbortSignal) => {
    const found = await isReachable(signal);
    if (signal?.aborted) return;
    setThere(found);
    if (found && mayReload(Date.now(), sessionStorage)) location.reload();
  }, []);
  useEffect(() => {
    const over = new AbortController();
    const again = () => void check(over.signal);
    again();
    const timer = setInterval(again, EVERY_MS);
    addEventListener("online", again, { signal: over.signal });
    return () => {
      over.abort();
      clearInterval(timer);
    };
  }, [check]);
  if (isThere) {
    const updated = new Problem(
      0,
      "Headgate was updated",
      "This page is from another version. Reload it to continue.",
    );
    return <ErrorState error={updated} retry={() => location.reload()} action="Reload" />;
  }
  const away = new Problem(
    0,
    "This page failed to load",
    "Headgate cannot be reached. The page loads as soon as the server answers.",
  );
  return <ErrorState error={away} retry={() => void check()} />;
}

export function NotFoundScreen() {
  return (
    <Screen title="Page not found">
      <p>
        It may have been deleted, or the link is incomplete. <Link to="/">Go to Jobs</Link>
      </p>
    </Screen>
  );
}

/** Explains to a user why the page is only for admins. */
export function AdminsOnly({ what }: { what: string }) {
  const me = useMe();
  return (
    <EmptyState title="Only admins can see this page">
      <p>
        {what} You are logged in as {me?.name} with the role {me?.role}. Ask an admin for help or
        for the admin role.
      </p>
    </EmptyState>
  );
}
