import type { Wait } from "../../api";
import { Ago, useNow } from "../../design";
import { causeOf } from "./model";

/** Why something waits, in one sentence, with a countdown if the end is known. */
export function Cause({ wait }: { wait: Wait }) {
  const now = useNow();
  const { until, next } = wait;
  const isToCome = until !== null && new Date(until).getTime() > now;
  return (
    <>
      {causeOf(wait)}
      {until && (next || isToCome) && (
        <>
          ; {next || "continues"} {isToCome ? <Ago at={until} /> : "now"}
        </>
      )}
    </>
  );
}
