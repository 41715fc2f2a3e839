import { useMemo } from "react";
import { type Item, type Rows, useItems } from "../../api";
import { Ago, Button, counted, ErrorState, Panel } from "../../design";
import { useOpenItem } from "../item/useOpenItem";
import styles from "./ActivityTab.module.css";

const LOOKED_AT = 200;
const SHOWN = 10;

/** Items that failed once, and when and why they are tried again. */
export function RetriesAhead({ jobId }: { jobId: string }) {
  const filter = useMemo(
    () => ({ statuses: "PENDING", order: "updated" as const, waits: true }),
    [],
  );
  const rows = useItems(jobId, filter);
  const open = useOpenItem();
  const retries = retriesIn(rows);
  return (
    <Panel title="Retries ahead">
      {rows.problem && <ErrorState error={rows.problem} retry={rows.retry} />}
      {!rows.loading && retries.length === 0 && (
        <p className={styles.muted}>No item waits to be tried again.</p>
      )}
      <ol className={styles.lines}>
        {retries.slice(0, SHOWN).map((item) => (
          <li key={item.id}>
            <span>
              <Button look="quiet" onClick={() => open(item.id)}>
                {item.key}
              </Button>{" "}
              {item.waiting?.why ?? item.lastError}
            </span>
            <span className={styles.muted}>
              {counted(item.attempts, "attempt")} so far · again{" "}
              {item.dueAt ? <Ago at={item.dueAt} /> : "when its turn comes"}
            </span>
          </li>
        ))}
      </ol>
      {retries.length > SHOWN && (
        <p className={styles.muted}>And more: the tab Pending has all of them.</p>
      )}
    </Panel>
  );
}

/** Of the items that wait longest, those that have failed before. */
export function retriesIn(rows: Pick<Rows<Item>, "count" | "row">): Item[] {
  const found: Item[] = [];
  for (let index = 0; index < Math.min(rows.count, LOOKED_AT); index += 1) {
    const item = rows.row(index);
    if (item && (item.lastError !== null || item.errorClass !== null)) found.push(item);
  }
  return found;
}
