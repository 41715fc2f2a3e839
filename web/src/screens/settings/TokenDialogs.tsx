import { useState } from "react";
import {
  asProblem,
  type NewToken,
  type Role,
  type Token,
  useAddToken,
  useMay,
  useMe,
  useRevokeToken,
  useUsers,
} from "../../api";
import { Button, Command, Confirm, Dialog, Field, Select, Time, useToasts } from "../../design";
import { DEFAULT_LIFETIME, LIFETIMES, lifetimeOf, rolesUpTo } from "./model";
import styles from "./TokenDialogs.module.css";

/** Asks for the name, the role and the lifetime of a new token. */
export function AddToken({
  onMade,
  onClose,
}: {
  onMade: (token: NewToken) => void;
  onClose: () => void;
}) {
  const me = useMe();
  const isAdmin = useMay("admin");
  const [label, setLabel] = useState("");
  const [user, setUser] = useState("");
  const [role, setRole] = useState<Role | "">("");
  const [life, setLife] = useState(DEFAULT_LIFETIME);
  const add = useAddToken();
  return (
    <Confirm
      title="Create a token"
      action="Create token"
      busy={add.isPending}
      problem={add.error ? asProblem(add.error).detail : undefined}
      onClose={onClose}
      onConfirm={() =>
        add.mutate(
          { label, ...(user ? { user } : {}), ...(role ? { role } : {}), ...lifetimeOf(life) },
          {
            onSuccess: (made) => {
              onMade(made);
              onClose();
            },
          },
        )
      }
    >
      <Field
        label="Name"
        hint="For example the script or the machine that uses it"
        autoFocus
        autoComplete="off"
        value={label}
        onChange={(event) => setLabel(event.target.value)}
      />
      {isAdmin && <TokenOwner user={user} onChoose={setUser} />}
      <Select
        label="Permissions"
        options={[{ value: "", label: "Same as the owner" }, ...rolesUpTo(me?.role ?? "viewer")]}
        value={role}
        onChoose={(value) => setRole(value as Role | "")}
      />
      <Select label="Expires" options={LIFETIMES} value={life} onChoose={setLife} />
    </Confirm>
  );
}

function TokenOwner({ user, onChoose }: { user: string; onChoose: (name: string) => void }) {
  const me = useMe();
  const others = (useUsers().data ?? []).filter(
    ({ name, disabledAt }) => name !== me?.name && !disabledAt,
  );
  const options = [
    { value: "", label: `${me?.name ?? ""} (you)` },
    ...others.map(({ name }) => ({ value: name, label: name })),
  ];
  return <Select label="Owner" options={options} value={user} onChoose={onChoose} />;
}

/** Shows the secret of a token, once. */
export function NewSecret({ token, onClose }: { token: NewToken; onClose: () => void }) {
  return (
    <Dialog title="Copy the token now" onClose={onClose}>
      <div className={styles.secret}>
        <p>
          It is shown only once; the server stores only a hash. It gives access as {token.user} with
          the role {token.role}
          {token.expiresAt ? (
            <>
              , until <Time at={token.expiresAt} />
            </>
          ) : (
            ", until it is revoked"
          )}
          .
        </p>
        <Command>{token.token}</Command>
        <p>For the command line and the Python client:</p>
        <Command>{`export HEADGATE_TOKEN=${token.token}`}</Command>
        <div className={styles.buttons}>
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

/** Asks before a token is revoked. */
export function RevokeToken({ token, onClose }: { token: Token; onClose: () => void }) {
  const revoke = useRevokeToken();
  const toasts = useToasts();
  const name = token.label ? `“${token.label}”` : `token ${token.id}`;
  return (
    <Confirm
      danger
      title={`Revoke ${name}?`}
      action={`Revoke ${name}`}
      busy={revoke.isPending}
      problem={revoke.error ? asProblem(revoke.error).detail : undefined}
      onClose={onClose}
      onConfirm={() =>
        revoke.mutate(token.id, {
          onSuccess: () => {
            toasts.success(`${name} was revoked.`);
            onClose();
          },
        })
      }
    >
      <p>
        {token.kind === "api"
          ? `Scripts that use it lose access at once.`
          : `The browser of ${token.user} is logged out at once.`}
      </p>
    </Confirm>
  );
}
