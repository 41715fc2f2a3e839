import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { type ErrorGroup, type Job, useErrors, useMay } from "../../api";
import { Badge, Button, EmptyState, ErrorState, grouped, Loading } from "../../design";
import { ItemDrawer } from "../item/ItemDrawer";
import { askedForGroup } from "./asked";
import styles from "./ErrorsTab.module.css";
import { RunAgain } from "./RunAgain";
import { useOpenItem } from "./useOpenItem";

const route = getRouteApi("/frame/jobs/$jobId");

/** What went wrong in a job, once for each way of saying it. */
export function ErrorsTab({ job }: { job: Job }) {
  const { item } = route.useSearch();
  const groups = useErrors(job.id);
  const open = useOpenItem();
  const [asked, setAsked] = useState<ErrorGroup | null>(null);
  if (groups.error) {
    return <ErrorState error={groups.error} retry={() => void groups.refetch()} />;
  }
  if (!groups.data) return <Loading label="Loading the errors" />;
  if (groups.data.length === 0) {
    return (
      <EmptyState title="No errors">
        <p>Failures are grouped here by what they say, the most frequent first.</p>
      </EmptyState>
    );
  }
  const most = Math.max(...groups.data.map(({ count }) => count));
  return (
    <>
      <ul className={styles.groups} aria-label="Errors by what they say">
        {groups.data.map((group) => (
          <Group
            key={`${group.errorClass} ${group.signature}`}
            group={group}
            share={group.count / most}
            onRunAgain={() => setAsked(group)}
            onExample={() => open(group.example.itemId)}
          />
        ))}
      </ul>
      {asked && (
        <RunAgain
          jobId={job.id}
          asked={askedForGroup(asked)}
          about={`These are all items that failed with “${asked.signature}”.`}
          onClose={() => setAsked(null)}
        />
      )}
      {item && <ItemDrawer itemId={item} onClose={() => open(undefined)} />}
    </>
  );
}

function Group({
  group,
  share,
  onRunAgain,
  onExample,
}: {
  group: ErrorGroup;
  /** Of the largest group. */
  share: number;
  onRunAgain: () => void;
  onExample: () => void;
}) {
  const mayWrite = useMay("user");
  const { signature, errorClass, count, example } = group;
  return (
    <li className={styles.group}>
      <div className={styles.head}>
        <span className={styles.count}>{grouped(count)}</span>
        <Badge tone="error" icon="cross">
          {errorClass}
        </Badge>
        <code className={styles.signature}>{signature}</code>
      </div>
      <div className={styles.bar} aria-hidden="true">
        <span style={{ width: `${Math.max(1, share * 100)}%` }} />
      </div>
      <p className={styles.example}>
        <span className={styles.label}>For instance</span> {example.reason}
      </p>
      <div className={styles.buttons}>
        <Button look="quiet" onClick={onExample}>
          Open the instance
        </Button>
        <Link
          to="."
          search={{ tab: "grid", errorClass, signature, statuses: "ERROR" } as object}
          className={styles.link}
        >
          {count === 1 ? "Show the item" : `Show all ${grouped(count)} items`}
        </Link>
        {mayWrite && (
          <Button icon="repeat" onClick={onRunAgain}>
            {count === 1 ? "Retry this item…" : `Retry this group (${grouped(count)})…`}
          </Button>
        )}
      </div>
    </li>
  );
}
