import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { type ErrorGroup, type Job, useErrors, useMay } from "../../api";
import { Badge, Button, EmptyState, ErrorState, grouped, Loading, percent } from "../../design";
import { ItemDrawer } from "../item/ItemDrawer";
import { useOpenItem } from "../item/ListedItem";
import { requestForGroup } from "../reprocess/model";
import { RunAgain } from "../reprocess/RunAgain";
import styles from "./ErrorsTab.module.css";

const route = getRouteApi("/frame/jobs/$jobId");

/** The errors of a job, grouped by message. */
export function ErrorsTab({ job }: { job: Job }) {
  const { item } = route.useSearch();
  const groups = useErrors(job.id);
  const open = useOpenItem();
  const [asked, setAsked] = useState<ErrorGroup | null>(null);
  if (groups.error) {
    return <ErrorState error={groups.error} retry={() => void groups.refetch()} />;
  }
  if (!groups.data) return <Loading label="Loading errors" />;
  if (groups.data.length === 0) {
    return (
      <EmptyState title="No errors">
        <p>Failures appear here, grouped by message, most frequent first.</p>
      </EmptyState>
    );
  }
  const all = groups.data.reduce((sum, { count }) => sum + count, 0);
  return (
    <>
      <ul className={styles.groups} aria-label="Errors by message">
        {groups.data.map((group) => (
          <Group
            key={`${group.errorClass} ${group.signature}`}
            group={group}
            share={group.count / all}
            onRunAgain={() => setAsked(group)}
            onExample={() => open(group.example.itemId)}
          />
        ))}
      </ul>
      {asked && (
        <RunAgain
          calls={[{ jobId: job.id, body: requestForGroup(asked) }]}
          chosen={asked.count}
          onClose={() => setAsked(null)}
        >
          <p>All items that failed with “{messageOf(asked)}”.</p>
        </RunAgain>
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
        <code className={styles.signature}>{messageOf(group)}</code>
      </div>
      <div className={styles.share}>
        <div className={styles.bar} aria-hidden="true">
          <span style={{ width: `${Math.max(1, share * 100)}%` }} />
        </div>
        {percent(share)} of all errors
      </div>
      <p className={styles.example}>
        <span className={styles.label}>Example:</span> {example.reason}
      </p>
      <div className={styles.buttons}>
        {mayWrite && (
          <Button icon="repeat" onClick={onRunAgain}>
            {count === 1 ? "Retry this item…" : `Retry this group (${grouped(count)})…`}
          </Button>
        )}
        <Link
          to="."
          search={{ tab: "grid", errorClass, signature, statuses: "ERROR" } as object}
          className={styles.link}
        >
          {count === 1 ? "Show item" : `Show all ${grouped(count)} items`}
        </Link>
        <Button variant="quiet" onClick={onExample}>
          Open example
        </Button>
      </div>
    </li>
  );
}

/** The message of a group without its class, which is shown separately. */
export function messageOf({ signature, errorClass }: Pick<ErrorGroup, "signature" | "errorClass">) {
  const prefix = `${errorClass}: `;
  return signature.startsWith(prefix) ? signature.slice(prefix.length) : signature;
}
