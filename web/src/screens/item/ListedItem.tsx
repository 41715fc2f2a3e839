import { useState } from "react";
import type { Item, Rows } from "../../api";
import { ItemDrawer } from "./ItemDrawer";
import { neighboursOf } from "./neighbours";
import { useOpenItem } from "./useOpenItem";

const AROUND = 20;

/** The item that is open beside a list, with ways to the next and the one before. */
export function ListedItem({ rows, itemId }: { rows: Rows<Item>; itemId: string }) {
  const open = useOpenItem();
  const [hint, setHint] = useState<number | null>(null);
  const { index, previous, next } = neighboursOf(rows, itemId, hint);
  // The rows that the list shows behind the drawer stay at hand: it was opened among them.
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
