import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type RefObject, useEffect } from "react";
import { type ItemWhole, itemQuery, mayMoveItem, useItem } from "../../api";
import { Button, EmptyState, ErrorState, Loading, StatusBadge } from "../../design";
import { CandidateChoice } from "./CandidateChoice";
import type { Keys } from "./model";
import styles from "./ReviewItem.module.css";

/** One item with its candidates, and the decisions. */
export function ReviewItem({
  itemId,
  next,
  waiting,
  onDecided,
  onOnlyJob,
}: {
  itemId: string;
  /** The next item, which is loaded in advance. */
  next: string | undefined;
  /** Keys that were pressed before the item was loaded. */
  waiting: RefObject<Keys>;
  onDecided: () => void;
  onOnlyJob: ((jobId: string) => void) | undefined;
}) {
  const item = useItem(itemId);
  const queries = useQueryClient();
  useEffect(() => {
    if (next) void queries.prefetchQuery(itemQuery(next));
  }, [queries, next]);

  if (item.error) return <ErrorState error={item.error} retry={item.refetch} />;
  if (!item.data) return <Loading />;
  return (
    <>
      <Head item={item.data} onOnlyJob={onOnlyJob} />
      {mayMoveItem(item.data.status, "reject") ? (
        <CandidateChoice item={item.data} waiting={waiting} onDecided={onDecided} />
      ) : (
        <EmptyState title="This item was already reviewed">
          <p>
            Its status is <StatusBadge status={item.data.status} />. Another user reviewed it, or it
            ran again.
          </p>
          <Button onClick={onDecided}>Continue</Button>
        </EmptyState>
      )}
    </>
  );
}

function Head({
  item,
  onOnlyJob,
}: {
  item: ItemWhole;
  onOnlyJob: ((jobId: string) => void) | undefined;
}) {
  const reason = item.history.at(-1)?.reason;
  return (
    <div className={styles.head}>
      <h2>{item.key || `Line ${item.line}`}</h2>
      {reason && <span className={styles.reason}>{reason}</span>}
      <Link to="/items/$itemId" params={{ itemId: item.id }}>
        Item details
      </Link>
      {onOnlyJob && <Button onClick={() => onOnlyJob(item.jobId)}>This job only</Button>}
    </div>
  );
}
