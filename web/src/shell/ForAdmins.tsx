import { useMe } from "../api";
import { EmptyState } from "../design";

/** Somebody came to a page that is not for them: why, and what to do. */
export function ForAdmins({ what }: { what: string }) {
  const me = useMe();
  return (
    <EmptyState title="This page is for admins">
      <p>
        {what} You are logged in as {me?.name} with the role {me?.role}. Ask an admin of this server
        to look for you, or to give you the role.
      </p>
    </EmptyState>
  );
}
