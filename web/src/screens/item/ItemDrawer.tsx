import { useItem } from "../../api";
import { Button, Drawer, ErrorState, Loading, useKey } from "../../design";
import { ItemBody } from "./ItemBody";
import { titleOf } from "./model";
import { RunItemAgain } from "./RunItemAgain";

/** An item in a drawer beside its list. */
export function ItemDrawer({
  itemId,
  onClose,
  onNext,
  onPrevious,
}: {
  itemId: string;
  onClose: () => void;
  /** Undefined at the end of the list. */
  onNext?: () => void;
  onPrevious?: () => void;
}) {
  const item = useItem(itemId);
  useKey("j", "Next item", () => onNext?.(), { inDialog: true });
  useKey("k", "Previous item", () => onPrevious?.(), { inDialog: true });
  return (
    <Drawer
      title={titleOf(item.data, itemId)}
      onClose={onClose}
      actions={
        <>
          {item.data && <RunItemAgain item={item.data} />}
          <Button
            variant="quiet"
            icon="chevronUp"
            aria-label="Previous item (k)"
            disabled={!onPrevious}
            onClick={onPrevious}
          />
          <Button
            variant="quiet"
            icon="chevronDown"
            aria-label="Next item (j)"
            disabled={!onNext}
            onClick={onNext}
          />
        </>
      }
    >
      {item.error ? (
        <ErrorState error={item.error} retry={() => void item.refetch()} />
      ) : item.data ? (
        <ItemBody item={item.data} />
      ) : (
        <Loading label="Loading item" />
      )}
    </Drawer>
  );
}
