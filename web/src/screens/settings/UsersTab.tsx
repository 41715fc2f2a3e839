import { useMemo, useState } from "react";
import { listed, type User, useMe, useUsers } from "../../api";
import { Button, DataGrid } from "../../design";
import styles from "./ListTab.module.css";
import { AddUser, ChangeUser, DisableUser } from "./UserDialogs";
import { userColumns } from "./userColumns";

const rowId = (user: User) => user.name;
type OpenDialog = { about: "change" | "disable"; user: User };

/** All users. */
export function UsersTab() {
  const users = useUsers();
  const me = useMe();
  const [isAdding, setAdding] = useState(false);
  const [asked, setAsked] = useState<OpenDialog | null>(null);
  const close = () => setAsked(null);
  const columns = useMemo(
    () =>
      userColumns({
        me: me?.name,
        onChange: (user) => setAsked({ about: "change", user }),
        onDisable: (user) => setAsked({ about: "disable", user }),
      }),
    [me?.name],
  );
  return (
    <div className={styles.list}>
      <div className={styles.head}>
        <p>
          Viewers have read-only access, users create and manage their own jobs, admins manage
          everything.
        </p>
        <Button variant="primary" icon="plus" onClick={() => setAdding(true)}>
          Add a user
        </Button>
      </div>
      <DataGrid label="Users" columns={columns} rows={listed(users.data, users)} rowId={rowId} />
      {isAdding && <AddUser onClose={() => setAdding(false)} />}
      {asked?.about === "change" && <ChangeUser user={asked.user} onClose={close} />}
      {asked?.about === "disable" && <DisableUser user={asked.user} onClose={close} />}
    </div>
  );
}
