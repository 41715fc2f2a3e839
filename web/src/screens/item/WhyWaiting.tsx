import { type ItemWhole, isOpen, useWhy } from "../../api";
import { Ago, ErrorState, Icon, Skeleton } from "../../design";
import { Cause } from "../jobs/Cause";
import styles from "./WhyWaiting.module.css";

/** Why an item waits, in one sentence, and until when. */
export function WhyWaiting({ item }: { item: ItemWhole }) {
  const why = useWhy(item.id, isOpen(item));
  if (!isOpen(item)) return null;
  return (
    <section className={styles.why}>
      <h3>
        <Icon name="clock" />{" "}
        {item.status === "PROCESSING" ? "What is this item doing?" : "Why is this item waiting?"}
      </h3>
      {why.error && <ErrorState error={why.error} retry={() => void why.refetch()} />}
      {why.isPending && <Skeleton />}
      {why.data && (
        <p>
          {why.data.waiting ? <Cause wait={why.data.waiting} /> : "The item has just finished"}.
        </p>
      )}
      {item.lockedBy && (
        <p className={styles.muted}>
          Held by {item.lockedBy} since <Ago at={item.leasedAt} />; times out{" "}
          <Ago at={item.deadlineAt} />.
        </p>
      )}
    </section>
  );
}
