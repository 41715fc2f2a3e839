import { useNavigate } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import type { Item, Rows } from "../../api";
import { ItemDrawer } from "./ItemDrawer";
import { neighboursOf } from "./model";

/** Opens an item in the drawer; the list keeps its position. */
export function useOpenItem(): (itemId: string | undefined) => void {
  const navigate = useNavigate();
  return useCallback(
    (itemId) =>
      void navigate({
        to: ".",
        search: (old: object) => ({ ...old, item: itemId }),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
}

const NEIGHBOURS_LOADED = 20;

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
          rows.show(Math.max(0, first - NEIGHBOURS_LOADED), last + NEIGHBOURS_LOADED);
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
