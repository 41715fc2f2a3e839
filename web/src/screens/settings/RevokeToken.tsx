import { asProblem, type Token, useRevokeToken } from "../../api";
import { Confirm, useToasts } from "../../design";

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
