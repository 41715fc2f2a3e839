import { createContext, useContext } from "react";
import { useNow } from "../../design";

/** Milliseconds by which the ledger's clock is ahead of the browser's. */
export const LedgerSkew = createContext(0);

/** The time on the ledger's clock, which the times of gates use. */
export function useLedgerNow(): number {
  return useNow() + useContext(LedgerSkew);
}

/**
 * Milliseconds by which a clock is ahead that showed `now` in a response received at `cameAtMs`.
 */
export function skewOf(now: string | null | undefined, cameAtMs: number): number {
  return now ? new Date(now).getTime() - cameAtMs : 0;
}
