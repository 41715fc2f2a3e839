import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type RefObject, useEffect, useRef, useState } from "react";
import {
  type Decision,
  type ItemWhole,
  itemQuery,
  mayMoveItem,
  useDecide,
  useItem,
  useMay,
} from "../../api";
import {
  Button,
  EmptyState,
  ErrorState,
  Key,
  Loading,
  Panel,
  StatusBadge,
  useKey,
  usePhone,
  useToasts,
} from "../../design";
import { CandidateCards } from "./CandidateCards";
import { Comparison } from "./Comparison";
import { type Candidate, candidatesIn } from "./compare";
import { type DecisionKey, type Keys, played, withKey } from "./keyQueue";
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
        <Choice item={item.data} waiting={waiting} onDecided={onDecided} />
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

function Choice({
  item,
  waiting,
  onDecided,
}: {
  item: ItemWhole;
  waiting: RefObject<Keys>;
  onDecided: () => void;
}) {
  const candidates = candidatesIn(item.result);
  const [place, setPlace] = useState(0);
  // The next key may arrive before the page renders again.
  const placeNow = useRef(0);
  const choose = (at: number) => {
    placeNow.current = at;
    setPlace(at);
  };
  const decide = useDecide();
  const toasts = useToasts();
  const mayDecide = useMay("user");
  const isBusy = useRef(false);
  const phone = usePhone();
  const chosen = candidates[place];

  const take = (decision: Decision, done: string) => {
    if (!mayDecide) return;
    isBusy.current = true;
    decide.mutate(
      { id: item.id, decision },
      {
        onSuccess: () => {
          toasts.success(`${item.key}: ${done}.`);
          onDecided();
        },
        onError: (error) => {
          isBusy.current = false;
          waiting.current = [];
          toasts.fail(error);
        },
      },
    );
  };
  const decideBy = (key: DecisionKey, at: number) => {
    const candidate = candidates[at];
    if (key === "n") take({ move: "reject" }, "marked as not found");
    else if (key === "s") take({ move: "skip" }, "skipped");
    else if (candidate) {
      take({ move: "accept", candidateId: candidate.id }, `accepted “${candidate.name}”`);
    }
  };
  const press = (...keys: string[]) => {
    if (isBusy.current) {
      waiting.current = keys.reduce(withKey, waiting.current);
      return;
    }
    const { place: at, decision, rest } = played(keys, placeNow.current, candidates.length);
    choose(at);
    waiting.current = [...rest, ...waiting.current];
    if (decision) decideBy(decision, at);
  };
  useKey("a", "Accept the selected candidate", () => press("a"));
  useKey("n", "None of these: not found", () => press("n"));
  useKey("s", "Skip the item", () => press("s"));
  useKey("ArrowRight", "Next candidate", () => press("ArrowRight"));
  useKey("ArrowLeft", "Previous candidate", () => press("ArrowLeft"));

  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the item is there
  useEffect(() => {
    const keys = waiting.current;
    waiting.current = [];
    if (keys.length > 0) press(...keys);
  }, []);

  const View = phone ? CandidateCards : Comparison;
  return (
    <Panel>
      {candidates.length > 0 ? (
        <View row={item.input} candidates={candidates} chosen={place} onChoose={choose} />
      ) : (
        <p>The handler returned no candidates. Mark the item as not found, or skip it.</p>
      )}
      {candidates.slice(0, 9).map((each, n) => (
        <Digit key={each.id} n={n + 1} run={() => press(String(n + 1))} />
      ))}
      <Buttons chosen={chosen} press={press} busy={decide.isPending} />
    </Panel>
  );
}

function Digit({ n, run }: { n: number; run: () => void }) {
  useKey(String(n), n === 1 ? "Select candidate 1 (2, 3 …)" : "", run);
  return null;
}

function Buttons(props: {
  chosen: Candidate | undefined;
  press: (key: string) => void;
  busy: boolean;
}) {
  const { chosen, press, busy } = props;
  if (!useMay("user")) return <p className={styles.reason}>You have read-only access.</p>;
  return (
    <div className={styles.buttons}>
      {chosen && (
        <Button variant="primary" icon="check" busy={busy} onClick={() => press("a")}>
          Accept “{chosen.name}” <Key>a</Key>
        </Button>
      )}
      <Button icon="none" busy={busy} onClick={() => press("n")}>
        None of these <Key>n</Key>
      </Button>
      <Button icon="skip" busy={busy} onClick={() => press("s")}>
        Skip <Key>s</Key>
      </Button>
    </div>
  );
}
