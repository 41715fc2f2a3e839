import { useMemo, useState } from "react";
import { listed, type NewToken, type Token, useMay, useTokens } from "../../api";
import { Button, DataGrid, EmptyState } from "../../design";
import styles from "./ListTab.module.css";
import { AddToken, NewSecret, RevokeToken } from "./TokenDialogs";
import { tokenColumns } from "./tokenColumns";

const rowId = (token: Token) => token.id;

/** Tokens of scripts and browsers. */
export function TokensTab() {
  const tokens = useTokens();
  const isAdmin = useMay("admin");
  const mayAdd = useMay("user");
  const [isAdding, setAdding] = useState(false);
  const [made, setMade] = useState<NewToken | null>(null);
  const [revoked, setRevoked] = useState<Token | null>(null);
  const columns = useMemo(() => tokenColumns(isAdmin, setRevoked), [isAdmin]);
  return (
    <div className={styles.list}>
      <div className={styles.head}>
        <p>
          {isAdmin ? "Tokens and logins of all users." : "Your tokens and logins."} A token gives a
          script access. It can’t do more than its owner, and it is revoked with the token that
          created it.
        </p>
        {mayAdd && (
          <Button variant="primary" icon="plus" onClick={() => setAdding(true)}>
            Create a token
          </Button>
        )}
      </div>
      <DataGrid
        label="Tokens"
        columns={columns}
        rows={listed(tokens.data, tokens)}
        rowId={rowId}
        empty={
          <EmptyState title="No tokens">
            <p>
              {mayAdd
                ? "Create one for each script or machine, so that you can revoke each separately."
                : "You have read-only access. An admin can create a token for you."}
            </p>
          </EmptyState>
        }
      />
      {isAdding && <AddToken onMade={setMade} onClose={() => setAdding(false)} />}
      {made && <NewSecret token={made} onClose={() => setMade(null)} />}
      {revoked && <RevokeToken token={revoked} onClose={() => setRevoked(null)} />}
    </div>
  );
}
