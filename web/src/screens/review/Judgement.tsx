import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
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
import styles from "./Judgement.module.css";

/** One item with its candidates, and the ways to decide it. */
export function Judgement({
  itemId,
  next,
  onDecided,
  onOnlyJob,
}: {
  itemId: string;
  /** Which item comes after it: it is read beforehand. */
  next: string | undefined;
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
        <Choice item={item.data} onDecided={onDecided} />
      ) : (
        <EmptyState title="This item is decided">
          <p>
            It is <StatusBadge status={item.data.status} /> now: somebody was faster, or it ran
            again.
          </p>
          <Button onClick={onDecided}>Go on</Button>
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
        All of this item
      </Link>
      {onOnlyJob && <Button onClick={() => onOnlyJob(item.jobId)}>Only this job</Button>}
    </div>
  );
}

function Choice({ item, onDecided }: { item: ItemWhole; onDecided: () => void }) {
  const candidates = candidatesIn(item.result);
  const [place, setPlace] = useState(0);
  const decide = useDecide();
  const toasts = useToasts();
  const mayDecide = useMay("user") && !decide.isPending;
  const phone = usePhone();
  const chosen = candidates[place];

  const take = (decision: Decision, done: string) => {
    if (!mayDecide) return;
    decide.mutate(
      { id: item.id, decision },
      {
        onSuccess: () => {
          toasts.say(`${item.key}: ${done}.`);
          onDecided();
        },
        onError: toasts.fail,
      },
    );
  };
  const accept = () => {
    if (chosen) take({ move: "accept", candidateId: chosen.id }, `accepted “${chosen.name}”`);
  };
  const reject = () => take({ move: "reject" }, "none of them; it is not found");
  const skip = () => take({ move: "skip" }, "skipped");
  const turn = (step: number) =>
    setPlace((place + step + candidates.length) % (candidates.length || 1));
  useKey("a", "Accept the chosen candidate", accept);
  useKey("n", "None of these: not found", reject);
  useKey("s", "Skip the item", skip);
  useKey("ArrowRight", "Choose the next candidate", () => turn(1));
  useKey("ArrowLeft", "Choose the candidate before", () => turn(-1));

  const View = phone ? CandidateCards : Comparison;
  return (
    <Panel>
      {candidates.length > 0 ? (
        <View row={item.input} candidates={candidates} chosen={place} onChoose={setPlace} />
      ) : (
        <p>The handler named no candidate. Say that there is none, or skip the item.</p>
      )}
      {candidates.slice(0, 9).map((each, n) => (
        <Digit key={each.id} n={n + 1} run={() => setPlace(n)} />
      ))}
      <Buttons {...{ chosen, accept, reject, skip }} busy={decide.isPending} />
    </Panel>
  );
}

function Digit({ n, run }: { n: number; run: () => void }) {
  useKey(String(n), n === 1 ? "Choose candidate 1 (2, 3 …)" : "", run);
  return null;
}

function Buttons(props: {
  chosen: Candidate | undefined;
  accept: () => void;
  reject: () => void;
  skip: () => void;
  busy: boolean;
}) {
  const { chosen, busy } = props;
  if (!useMay("user")) return <p className={styles.reason}>Viewers see, but do not decide.</p>;
  return (
    <div className={styles.buttons}>
      {chosen && (
        <Button look="primary" icon="check" busy={busy} onClick={props.accept}>
          Accept “{chosen.name}” <Key>a</Key>
        </Button>
      )}
      <Button icon="none" busy={busy} onClick={props.reject}>
        None of these <Key>n</Key>
      </Button>
      <Button icon="skip" busy={busy} onClick={props.skip}>
        Skip <Key>s</Key>
      </Button>
    </div>
  );
}
