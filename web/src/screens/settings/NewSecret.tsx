import type { NewToken } from "../../api";
import { Button, Command, Dialog, Time } from "../../design";
import styles from "./NewSecret.module.css";

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
