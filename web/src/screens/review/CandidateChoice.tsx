import { type RefObject, useEffect, useRef, useState } from "react";
import { type Decision, type ItemWhole, useDecide, useMay } from "../../api";
import { Button, Key, Panel, useKey, usePhone, useToasts } from "../../design";
import { CandidateCards } from "./CandidateCards";
import { Comparison } from "./Comparison";
import {
  applyKeys,
  type Candidate,
  candidatesIn,
  type DecisionKey,
  type Keys,
  withKey,
} from "./model";
import styles from "./ReviewItem.module.css";

/** The candidates of an item, and the keys and buttons that decide. */
export function CandidateChoice({
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
    const { place: at, decision, rest } = applyKeys(keys, placeNow.current, candidates.length);
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
