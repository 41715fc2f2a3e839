import { useState } from "react";
import {
  asProblem,
  type NewToken,
  type Role,
  useAddToken,
  useMay,
  useMe,
  useUsers,
} from "../../api";
import { Confirm, Field, Select } from "../../design";
import { LIVES, lifeOf, rolesUpTo, USUAL_LIFE } from "./choices";

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
  const [life, setLife] = useState(USUAL_LIFE);
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
          { label, ...(user ? { user } : {}), ...(role ? { role } : {}), ...lifeOf(life) },
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
      {isAdmin && <ForWhom user={user} onChoose={setUser} />}
      <Select
        label="Permissions"
        options={[{ value: "", label: "Same as the owner" }, ...rolesUpTo(me?.role ?? "viewer")]}
        value={role}
        onChoose={(value) => setRole(value as Role | "")}
      />
      <Select label="Expires" options={LIVES} value={life} onChoose={setLife} />
    </Confirm>
  );
}

function ForWhom({ user, onChoose }: { user: string; onChoose: (name: string) => void }) {
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
