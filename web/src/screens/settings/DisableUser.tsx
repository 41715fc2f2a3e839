import { asProblem, type User, useDisableUser } from "../../api";
import { Confirm, useToasts } from "../../design";

/** Asks before somebody is let in no more. */
export function DisableUser({ user, onClose }: { user: User; onClose: () => void }) {
  const disable = useDisableUser();
  const toasts = useToasts();
  return (
    <Confirm
      danger
      title={`Lock ${user.name} out?`}
      action={`Lock ${user.name} out`}
      busy={disable.isPending}
      problem={disable.error ? asProblem(disable.error).detail : undefined}
      onClose={onClose}
      onConfirm={() =>
        disable.mutate(user.name, {
          onSuccess: () => {
            toasts.say(`${user.name} is let in no more.`);
            onClose();
          },
        })
      }
    >
      <p>Their tokens and logins end at once. Their jobs stay, and go on.</p>
    </Confirm>
  );
}
