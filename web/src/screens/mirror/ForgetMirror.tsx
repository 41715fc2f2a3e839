import { asProblem, type Mirror, useForgetMirror } from "../../api";
import { Confirm, counted, grouped, useToasts } from "../../design";
import { rowsOf } from "../mirrors/model";

/** Asks before a mirror is removed with its rows and history. */
export function ForgetMirror({
  mirror,
  onClose,
  onForgotten,
}: {
  mirror: Mirror;
  onClose: () => void;
  onForgotten: () => void;
}) {
  const forget = useForgetMirror();
  const toasts = useToasts();
  const rows = counted(rowsOf(mirror), "row");
  return (
    <Confirm
      danger
      title={`Forget ${mirror.name} and its ${rows}?`}
      action={`Forget ${grouped(rowsOf(mirror))} rows`}
      busy={forget.isPending}
      problem={forget.error ? asProblem(forget.error).detail : undefined}
      onClose={onClose}
      onConfirm={() =>
        forget.mutate(mirror.id, {
          onSuccess: () => {
            toasts.success(`${mirror.name} was forgotten.`);
            onForgotten();
          },
        })
      }
    >
      <p>
        The rows, their history and the state of every stream will be deleted. The source keeps its
        rows. This can’t be undone.
      </p>
    </Confirm>
  );
}
