import { type ItemWhole, mayMoveItem, useMay, useReprocess } from "../../api";
import { Button, useKey, useToasts } from "../../design";

/** Runs one finished item again. */
export function RunItemAgain({ item }: { item: ItemWhole }) {
  const reprocess = useReprocess();
  const toasts = useToasts();
  const may = useMay("user") && mayMoveItem(item.status, "requeue");
  const run = () => {
    if (!may || reprocess.isPending) return;
    reprocess.mutate(
      { id: item.jobId, body: { scope: "items", itemIds: [item.id] } },
      {
        onSuccess: ({ count }) =>
          toasts.success(
            count ? `${item.key} is queued to run again.` : `${item.key} is already running.`,
          ),
        onError: toasts.fail,
      },
    );
  };
  useKey("r", may ? "Run item again" : "", run, { inDialog: true });
  if (!may) return null;
  return (
    <Button icon="repeat" busy={reprocess.isPending} onClick={run}>
      Run again
    </Button>
  );
}
