import type { ErrorComponentProps } from "@tanstack/react-router";
import { ErrorState } from "../design";

/** A screen that broke; the rest of the page goes on. */
export function Failure({ error, reset }: ErrorComponentProps) {
  return <ErrorState error={error} retry={reset} />;
}
