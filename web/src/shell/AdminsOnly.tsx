import { useMe } from "../api";
import { EmptyState } from "../design";

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
