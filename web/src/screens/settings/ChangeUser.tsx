import { useState } from "react";
import { asProblem, type Role, type User, useChangeUser, useMe } from "../../api";
import { Confirm, Field, Select, useToasts } from "../../design";
import { rolesUpTo } from "./choices";

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
