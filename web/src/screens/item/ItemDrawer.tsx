import { Drawer, EmptyState } from "../../design";

/** One item beside the list that it was found in. */
export function ItemDrawer({
  itemId,
  onClose,
}: {
  itemId: string;
  onClose: () => void;
  /** Absent at the end of the list. */
  onNext?: () => void;
  onPrevious?: () => void;
}) {
  return (
    <Drawer title={`Item ${itemId}`} onClose={onClose}>
      <EmptyState title="This is not built yet" />
    </Drawer>
  );
}
