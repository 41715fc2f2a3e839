import { useMemo } from "react";
import { type Item, type Job, type Rows, useItems } from "../../api";
import { Ago, Button, counted, ErrorState, Panel, useNow } from "../../design";
import { useOpenItem } from "../item/ListedItem";
import styles from "./ActivityTab.module.css";

const LOOKED_AT = 200;
const SHOWN = 10;

/** Items that failed, with the time and reason of their retry. */
export function RetriesAhead({ job }: { job: Job }) {
  // Rows that have waited since the start are not retries.
  const from = job.startedAt ?? undefined;
  const filter = useMemo(
    () => ({ statuses: "PENDING", order: "updated" as const, from, waits: true }),
    [from],
  );
  const rows = useItems(job.id, filter);
  const open = useOpenItem();
  const retries = retriesIn(rows, useNow());
  return (
    <Panel title="Upcoming retries">
      {rows.problem && <ErrorState error={rows.problem} retry={rows.retry} />}
      {!rows.loading && retries.length === 0 && (
        <p className={styles.muted}>No retries are scheduled.</p>
      )}
      <ol className={styles.lines}>
        {retries.slice(0, SHOWN).map((item) => (
          <li key={item.id}>
            <span className={styles.head}>
              <Button variant="quiet" className={styles.name} onClick={() => open(item.id)}>
                {item.key}
              </Button>
              <span className={styles.muted}>
                <Ago at={item.dueAt} />
              </span>
            </span>
            <span className={styles.muted}>
              {item.lastError ?? item.waiting?.why}
              {item.attempts > 0 && ` · ${counted(item.attempts, "attempt")}`}
            </span>
          </li>
        ))}
      </ol>
      {retries.length > SHOWN && <p className={styles.muted}>The Pending tab lists all of them.</p>}
    </Panel>
  );
}

/** Items that failed or were deferred and are due after `now`, soonest first. */
export function retriesIn(rows: Pick<Rows<Item>, "count" | "row">, now: number): Item[] {
  const found: Item[] = [];
  for (let index = 0; index < Math.min(rows.count, LOOKED_AT); index += 1) {
    const item = rows.row(index);
    if (!item || (item.lastError === null && item.errorClass === null)) continue;
    // A due item waits for its turn like any other.
    if (item.dueAt && new Date(item.dueAt).getTime() > now) found.push(item);
  }
  return found.sort((a, b) => (a.dueAt ?? "").localeCompare(b.dueAt ?? ""));
}
