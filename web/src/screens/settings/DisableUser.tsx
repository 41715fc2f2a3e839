import { asProblem, type User, useChangeUser } from "../../api";
import { Confirm, useToasts } from "../../design";

/** Asks before a user is disabled. */
export function DisableUser({ user, onClose }: { user: User; onClose: () => void }) {
  const change = useChangeUser();
  const toasts = useToasts();
  return (
    <Confirm
      danger
      title={`Disable ${user.name}?`}
      action={`Disable ${user.name}`}
      busy={change.isPending}
      problem={change.error ? asProblem(change.error).detail : undefined}
      onClose={onClose}
      onConfirm={() =>
        change.mutate(
          { name: user.name, body: { disabled: true } },
          {
            onSuccess: () => {
              toasts.success(`${user.name} was disabled.`);
              onClose();
            },
          },
        )
      }
    >
      <p>Their tokens and sessions end at once. Their jobs stay and keep running.</p>
    </Confirm>
  );
}
