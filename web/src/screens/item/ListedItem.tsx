import { useState } from "react";
import type { Item, Rows } from "../../api";
import { ItemDrawer } from "./ItemDrawer";
import { neighboursOf } from "./neighbours";
import { useOpenItem } from "./useOpenItem";

const AROUND = 20;

/** The open item of a list, with next and previous. */
export function ListedItem({ rows, itemId }: { rows: Rows<Item>; itemId: string }) {
  const open = useOpenItem();
  const [hint, setHint] = useState<number | null>(null);
  const { index, previous, next } = neighboursOf(rows, itemId, hint);
  // Keep the rows behind the drawer loaded: the user opened the item among them.
  const [opened, setOpened] = useState<number | null>(null);
  if (opened === null && index !== null) setOpened(index);
  const go = (to: string | undefined, step: number) =>
    to === undefined || index === null
      ? undefined
      : () => {
          setHint(index + step);
          const [first, last] = [
            Math.min(index, opened ?? index),
            Math.max(index, opened ?? index),
          ];
          rows.show(Math.max(0, first - AROUND), last + AROUND);
          open(to);
        };
  const onNext = go(next, 1);
  const onPrevious = go(previous, -1);
  return (
    <ItemDrawer
      itemId={itemId}
      onClose={() => open(undefined)}
      {...(onNext ? { onNext } : {})}
      {...(onPrevious ? { onPrevious } : {})}
    />
  );
}
