import type { User } from "../../api";
import { Badge, type Column, Menu, type MenuItem, Time } from "../../design";

interface UserActions {
  /** The current user, who cannot change their own role. */
  me: string | undefined;
  onChange: (user: User) => void;
  onDisable: (user: User) => void;
}

export function userColumns(deeds: UserActions): Column<User>[] {
  return [
    {
      id: "name",
      header: "Name",
      width: 104,
      grow: 3,
      phone: true,
      cell: ({ name }) => (name === deeds.me ? `${name} (you)` : name),
    },
    { id: "role", header: "Role", width: 72, grow: 0, phone: true, cell: ({ role }) => role },
    { id: "state", header: "State", width: 126, grow: 0, phone: true, cell: state },
    {
      id: "login",
      header: "Sign-in",
      width: 150,
      grow: 2,
      cell: ({ hasPassword }) => (hasPassword ? "password or token" : "token"),
    },
    {
      id: "created",
      header: "Created",
      width: 180,
      grow: 2,
      cell: ({ createdAt }) => <Time at={createdAt} />,
    },
    {
      id: "actions",
      header: "Actions",
      hideHeader: true,
      width: 60,
      grow: 0,
      align: "end",
      phone: true,
      cell: (user) => <Menu label={`Actions for ${user.name}`} items={actionsOf(user, deeds)} />,
    },
  ];
}

function state({ disabledAt }: User) {
  return disabledAt ? (
    <Badge tone="cancelled" icon="stop">
      Disabled
    </Badge>
  ) : (
    <Badge tone="done" icon="check">
      Active
    </Badge>
  );
}

/** The actions on a user. */
export function actionsOf(user: User, { me, onChange, onDisable }: UserActions): MenuItem[] {
  const items: MenuItem[] = [
    {
      label: user.disabledAt ? "Enable…" : "Change role or password…",
      icon: "person",
      onSelect: () => onChange(user),
    },
  ];
  if (user.name !== me && !user.disabledAt) {
    items.push({ label: "Disable…", icon: "stop", danger: true, onSelect: () => onDisable(user) });
  }
  return items;
}
