import { useState } from "react";

/** Selected rows: some by id, or all that match the filter, including rows not loaded. */
export interface Selection {
  ids: ReadonlySet<string>;
  /** All matching rows are selected; then `ids` are the exceptions. */
  everything: boolean;
  has: (id: string) => boolean;
  toggle: (id: string) => void;
  /** Selects all of these, or with `on` false deselects them. */
  choose: (ids: readonly string[], on: boolean) => void;
  selectAll: () => void;
  clear: () => void;
  any: boolean;
}

const NONE: ReadonlySet<string> = new Set();

/** A selection that is cleared whenever `filter` changes. */
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
        // If everything is selected, the set holds the exceptions.
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

/** A set with a member added, or removed if it was there. */
export function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}
