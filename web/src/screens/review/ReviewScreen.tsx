import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useJob, useReviews } from "../../api";
import {
  Button,
  EmptyState,
  ErrorState,
  grouped,
  Key,
  Loading,
  Screen,
  useKey,
} from "../../design";
import { useFilter } from "../../shell/urlState";
import { afterDeciding, type Keys, openFrom, placeOf, REVIEW_KEYS, withKey } from "./model";
import { ReviewItem } from "./ReviewItem";
import styles from "./ReviewScreen.module.css";

const route = getRouteApi("/frame/review");

/** Items in REVIEW, one after the other. */
export function ReviewScreen() {
  const { job, item } = route.useSearch();
  const setFilter = useFilter();
  const line = useReviews({ jobId: job });
  const [decided, setDecided] = useState<ReadonlySet<string>>(new Set());
  const current = item ?? openFrom(line, 0, 1, decided);
  const at = placeOf(line, current);
  const next = openFrom(line, at + 1, 1, decided);
  const previous = openFrom(line, at - 1, -1, decided);

  const { show } = line;
  useEffect(() => show(Math.max(at, 0), at + 1), [show, at]);
  const waiting = useRef<Keys>([]);
  const go = (id: string | undefined) => {
    waiting.current = [];
    if (id) setFilter({ item: id });
  };
  useKey("j", "Next item", () => go(next));
  useKey("k", "Previous item", () => go(previous));

  const settle = (id: string) => {
    const all = new Set(decided).add(id);
    setDecided(all);
    setFilter({ item: at < 0 ? openFrom(line, 0, 1, all) : afterDeciding(line, at, all) });
  };

  return (
    <Screen
      title="Review"
      actions={
        current && (
          <>
            <Button icon="arrowLeft" disabled={!previous} onClick={() => go(previous)}>
              Previous <Key>k</Key>
            </Button>
            <Button disabled={!next} onClick={() => go(next)}>
              Next <Key>j</Key>
            </Button>
          </>
        )
      }
    >
      <p className={styles.line}>
        <span>{inWords(at, line.count, line.complete)}</span>
        {job && (
          <OnlyJob jobId={job} onAll={() => setFilter({ job: undefined, item: undefined })} />
        )}
      </p>
      {/* Before the item itself, whose shortcuts then win. */}
      {current &&
        REVIEW_KEYS.map((key) => (
          <Waiting
            key={key}
            name={key}
            run={() => {
              waiting.current = withKey(waiting.current, key);
            }}
          />
        ))}
      {current ? (
        <ReviewItem
          key={current}
          itemId={current}
          next={next}
          waiting={waiting}
          onDecided={() => settle(current)}
          onOnlyJob={job ? undefined : (jobId) => setFilter({ job: jobId })}
        />
      ) : (
        <NothingToReview line={line} />
      )}
    </Screen>
  );
}

/** Stores a key for an item that is not loaded yet. */
function Waiting({ name, run }: { name: string; run: () => void }) {
  useKey(name, "", run);
  return null;
}

function inWords(at: number, count: number, complete: boolean): string {
  if (count === 0) return "";
  const all = complete ? grouped(count) : `${grouped(count)}+`;
  return at < 0 ? `${all} to review` : `${grouped(at + 1)} of ${all}`;
}

function OnlyJob({ jobId, onAll }: { jobId: string; onAll: () => void }) {
  const { data: job } = useJob(jobId);
  return (
    <span className={styles.only}>
      Filtered to{" "}
      <Link to="/jobs/$jobId" params={{ jobId }}>
        {job?.name || `job ${jobId}`}
      </Link>
      <Button onClick={onAll}>Show all jobs</Button>
    </span>
  );
}

function NothingToReview({ line }: { line: ReturnType<typeof useReviews> }) {
  if (line.problem) return <ErrorState error={line.problem} retry={line.retry} />;
  if (!line.complete || line.count > 0) return <Loading />;
  return (
    <EmptyState title="Nothing to review">
      <p>
        When a handler finds several candidates and cannot choose one, the item appears here, with
        the candidates side by side.
      </p>
    </EmptyState>
  );
}
