import { createContext, useContext } from "react";
import { useNow } from "../../design";

/** By how many ms the ledger's clock is ahead of this browser's. */
export const LedgerSkew = createContext(0);

/** The time on the ledger's clock: moments of gates are told on it. */
export function useLedgerNow(): number {
  return useNow() + useContext(LedgerSkew);
}

/** How far ahead a clock is that told `now` in an answer that came at `cameAtMs`. */
export function skewOf(now: string | null | undefined, cameAtMs: number): number {
  return now ? new Date(now).getTime() - cameAtMs : 0;
}
