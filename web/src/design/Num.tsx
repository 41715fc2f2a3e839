import { grouped } from "./numbers";

/** A count, in groups of three. */
export function Num({ value }: { value: number }) {
  return <span>{grouped(value)}</span>;
}
