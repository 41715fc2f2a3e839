import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { listed, type Mirror, useMay, useMirrors } from "../../api";
import { Button, Command, DataGrid, EmptyState, Screen } from "../../design";
import { columnsOf } from "./columns";
import { NewMirror } from "./NewMirror";

const rowId = (mirror: Mirror) => mirror.id;

/** All mirrors that the user may see, by name. */
export function MirrorsScreen() {
  const mirrors = useMirrors();
  const navigate = useNavigate();
  const isAdmin = useMay("admin");
  const columns = useMemo(() => columnsOf(isAdmin), [isAdmin]);
  const mayWrite = useMay("user");
  const [isAsked, setAsked] = useState(false);
  return (
    <Screen
      title="Mirrors"
      actions={
        mayWrite && (
          <Button variant="primary" icon="plus" onClick={() => setAsked(true)}>
            New mirror…
          </Button>
        )
      }
    >
      <DataGrid
        label="Mirrors"
        columns={columns}
        rows={listed(mirrors.data, mirrors)}
        rowId={rowId}
        onOpen={({ id }) => void navigate({ to: "/mirrors/$mirrorId", params: { mirrorId: id } })}
        empty={<NoMirrors />}
      />
      {isAsked && <NewMirror onClose={() => setAsked(false)} />}
    </Screen>
  );
}

function NoMirrors() {
  return (
    <EmptyState title="No mirrors yet">
      <p>
        A mirror is a copy of the rows of an API. Each pass adds what is new, updates what has
        changed, and proves that no row is missing. Describe the API in a file, then begin the first
        pass:
      </p>
      <Command>headgate extract run source.toml</Command>
    </EmptyState>
  );
}
