import { useState } from "react";
import { asProblem, type Role, useAddUser } from "../../api";
import { Confirm, Field, Select, useToasts } from "../../design";
import { rolesUpTo } from "./choices";

export function AddUser({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("user");
  const [password, setPassword] = useState("");
  const add = useAddUser();
  const toasts = useToasts();
  return (
    <Confirm
      title="Add a user"
      action={name ? `Add ${name}` : "Add"}
      disabled={!name}
      busy={add.isPending}
      problem={add.error ? asProblem(add.error).detail : undefined}
      onClose={onClose}
      onConfirm={() =>
        add.mutate(
          { name, role, ...(password ? { password } : {}) },
          {
            onSuccess: () => {
              toasts.success(
                password
                  ? `${name} can now sign in.`
                  : `${name} was added. Create a token so that they can sign in.`,
              );
              onClose();
            },
          },
        )
      }
    >
      <Field
        label="Name"
        hint="Lower-case letters, digits, and . _ @ -"
        autoFocus
        autoComplete="off"
        autoCapitalize="none"
        value={name}
        onChange={(event) => setName(event.target.value.trim())}
      />
      <Select
        label="Role"
        options={rolesUpTo("admin")}
        value={role}
        onChoose={(value) => setRole(value as Role)}
      />
      <Field
        label="Password"
        type="password"
        hint="Optional – leave empty for token-only access."
        autoComplete="new-password"
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
    </Confirm>
  );
}
