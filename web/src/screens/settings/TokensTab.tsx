import { useMemo, useState } from "react";
import { listed, type NewToken, type Token, useMay, useTokens } from "../../api";
import { Button, DataGrid, EmptyState } from "../../design";
import { AddToken } from "./AddToken";
import styles from "./ListTab.module.css";
import { NewSecret } from "./NewSecret";
import { RevokeToken } from "./RevokeToken";
import { tokenColumns } from "./tokenColumns";

const rowId = (token: Token) => token.id;

/** Tokens that let scripts and browsers in. */
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
          {isAdmin ? "Everybody’s tokens and logins." : "Your tokens and logins."} A token lets a
          script in; it never may more than its owner, and ends with the token that it was made
          with.
        </p>
        {mayAdd && (
          <Button look="primary" icon="plus" onClick={() => setAdding(true)}>
            Make a token
          </Button>
        )}
      </div>
      <DataGrid
        label="Tokens"
        columns={columns}
        rows={listed(tokens.data, tokens)}
        rowId={rowId}
        empty={
          <EmptyState title="There are no tokens">
            <p>
              {mayAdd
                ? "Make one for each script or machine, so that each can be revoked by itself."
                : "Viewers make no tokens. An admin can make one for you."}
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
