import { useState } from "react";

/** Rows that were chosen: some by id, or all that match the filter, also those not loaded. */
export interface Selection {
  ids: ReadonlySet<string>;
  /** All that match; then `ids` are those taken out again. */
  everything: boolean;
  has: (id: string) => boolean;
  toggle: (id: string) => void;
  /** Chooses all of these, or (with `on` false) none of them. */
  choose: (ids: readonly string[], on: boolean) => void;
  selectAll: () => void;
  clear: () => void;
  /** Whether anything is chosen. */
  any: boolean;
}

const NONE: ReadonlySet<string> = new Set();

/** A selection that is dropped whenever `filter` changes: it was made of other rows. */
export function useSelection(filter: string): Selection {
  const [chosen, setChosen] = useState({ filter, ids: NONE, everything: false });
  const { ids, everything } = chosen.filter === filter ? chosen : { ids: NONE, everything: false };
  const set = (next: ReadonlySet<string>, all: boolean) =>
    setChosen({ filter, ids: next, everything: all });
  return {
    ids,
    everything,
    has: (id) => ids.has(id) !== everything,
    toggle: (id) => set(toggled(ids, id), everything),
    choose: (some, on) => {
      const next = new Set(ids);
      for (const id of some) {
        // Where all are chosen, those in the set are taken out.
        if (on === everything) next.delete(id);
        else next.add(id);
      }
      set(next, everything);
    },
    selectAll: () => set(NONE, true),
    clear: () => set(NONE, false),
    any: everything || ids.size > 0,
  };
}

/** A set with a member put in, or taken out if it was there. */
export function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}
