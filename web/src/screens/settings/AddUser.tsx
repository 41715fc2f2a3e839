import { useState } from "react";
import { asProblem, type Role, useAddUser } from "../../api";
import { Confirm, Field, Select, useToasts } from "../../design";
import { rolesUpTo } from "./choices";

/** Asks for a new user. */
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
              toasts.say(
                password
                  ? `${name} may come in.`
                  : `${name} is there. Make a token for them to come in.`,
              );
              onClose();
            },
          },
        )
      }
    >
      <Field
        label="Name"
        hint="Small letters, digits, and . _ @ -"
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
        hint="May stay empty: then only tokens let them in."
        autoComplete="new-password"
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
    </Confirm>
  );
}
