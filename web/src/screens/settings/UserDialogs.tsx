import { useState } from "react";
import { asProblem, type Role, type User, useAddUser, useChangeUser, useMe } from "../../api";
import { Confirm, Field, Select, useToasts } from "../../design";
import { rolesUpTo } from "./model";

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

/** Asks for a new role or password. Saving enables a disabled account. */
export function ChangeUser({ user, onClose }: { user: User; onClose: () => void }) {
  const [role, setRole] = useState<Role>(user.role);
  const [password, setPassword] = useState("");
  const change = useChangeUser();
  const toasts = useToasts();
  const isMe = useMe()?.name === user.name;
  const isBack = user.disabledAt !== null;
  return (
    <Confirm
      title={isBack ? `Enable ${user.name}?` : `Change ${user.name}`}
      action={isBack ? `Enable ${user.name}` : "Save"}
      disabled={!isBack && role === user.role && !password}
      busy={change.isPending}
      problem={change.error ? asProblem(change.error).detail : undefined}
      onClose={onClose}
      onConfirm={() =>
        change.mutate(
          {
            name: user.name,
            body: {
              role,
              ...(password ? { password } : {}),
              ...(isBack ? { disabled: false } : {}),
            },
          },
          {
            onSuccess: () => {
              toasts.success(
                isBack ? `${user.name} can sign in again.` : `${user.name} was changed.`,
              );
              onClose();
            },
          },
        )
      }
    >
      <Select
        label="Role"
        hint={isMe ? "You cannot change your own role. Ask another admin." : undefined}
        options={rolesUpTo("admin")}
        value={role}
        disabled={isMe}
        onChoose={(value) => setRole(value as Role)}
      />
      <Field
        label="New password"
        type="password"
        hint="Leave empty to keep the current one."
        autoComplete="new-password"
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
    </Confirm>
  );
}

/** Asks before a user is disabled. */
export function DisableUser({ user, onClose }: { user: User; onClose: () => void }) {
  const change = useChangeUser();
  const toasts = useToasts();
  return (
    <Confirm
      danger
      title={`Disable ${user.name}?`}
      action={`Disable ${user.name}`}
      busy={change.isPending}
      problem={change.error ? asProblem(change.error).detail : undefined}
      onClose={onClose}
      onConfirm={() =>
        change.mutate(
          { name: user.name, body: { disabled: true } },
          {
            onSuccess: () => {
              toasts.success(`${user.name} was disabled.`);
              onClose();
            },
          },
        )
      }
    >
      <p>Their tokens and sessions end at once. Their jobs stay and keep running.</p>
    </Confirm>
  );
}
