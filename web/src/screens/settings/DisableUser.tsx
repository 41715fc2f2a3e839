import { asProblem, type User, useChangeUser } from "../../api";
import { Confirm, useToasts } from "../../design";

/** Asks before somebody is let in no more. */
export function DisableUser({ user, onClose }: { user: User; onClose: () => void }) {
  const change = useChangeUser();
  const toasts = useToasts();
  return (
    <Confirm
      danger
      title={`Lock ${user.name} out?`}
      action={`Lock ${user.name} out`}
      busy={change.isPending}
      problem={change.error ? asProblem(change.error).detail : undefined}
      onClose={onClose}
      onConfirm={() =>
        change.mutate(
          { name: user.name, body: { disabled: true } },
          {
            onSuccess: () => {
              toasts.say(`${user.name} is let in no more.`);
              onClose();
            },
          },
        )
      }
    >
      <p>Their tokens and logins end at once. Their jobs stay, and go on.</p>
    </Confirm>
  );
}
