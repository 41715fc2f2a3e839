import { Link } from "@tanstack/react-router";
import { type Checkpoint, type Pass, usePass } from "../../api";
import { counted, Drawer, ErrorState, Fact, Facts, Icon, Loading } from "../../design";
import { PassState } from "../mirrors/columns";
import { isRunning, proofOf } from "../mirrors/model";
import { VerdictBadge } from "../mirrors/Verdict";
import { PassFacts } from "./MirrorFacts";
import { driftOf, evidenceOf, failedIn, repeatedOf } from "./model";
import styles from "./PassDrawer.module.css";
import { PassWork } from "./PassWork";
import { Progress } from "./streamColumns";

/** One pass: its streams with their proofs, and how the work went. */
export function PassDrawer({ passId, onClose }: { passId: string; onClose: () => void }) {
  const pass = usePass(passId);
  return (
    <Drawer title={`Pass ${passId}`} onClose={onClose}>
      {pass.error ? (
        <ErrorState error={pass.error} retry={() => void pass.refetch()} />
      ) : pass.data ? (
        <PassBody pass={pass.data} />
      ) : (
        <Loading label="Loading pass" />
      )}
    </Drawer>
  );
}

function PassBody({ pass }: { pass: Pass }) {
  const failed = failedIn(pass);
  return (
    <div className={styles.parts}>
      <p className={styles.state}>
        <PassState pass={pass} />
        {pass.job && (
          <Link to="/jobs/$jobId" params={{ jobId: pass.id }} className={styles.link}>
            <Icon name="jobs" /> Show pages
          </Link>
        )}
        <Link
          to="/mirrors/$mirrorId"
          params={{ mirrorId: pass.mirrorId }}
          search={{ tab: "differences", to: pass.id }}
          className={styles.link}
        >
          <Icon name="columns" /> Compare with the pass before
        </Link>
        {failed > 0 && (
          <Link
            to="/jobs/$jobId"
            params={{ jobId: pass.id }}
            search={{ tab: "errors" }}
            className={styles.link}
          >
            <Icon name="cross" /> {counted(failed, "failed page")}
          </Link>
        )}
      </p>
      <Facts variant="tiles">
        <PassFacts pass={pass} />
      </Facts>
      <section>
        <h3>Streams</h3>
        <ul className={styles.streams}>
          {pass.checkpoints.map((each) => (
            <StreamInPass key={each.name} checkpoint={each} isRunning={isRunning(pass)} />
          ))}
        </ul>
      </section>
      {pass.job && <PassWork passId={pass.id} />}
    </div>
  );
}

function StreamInPass({
  checkpoint,
  isRunning: running,
}: {
  checkpoint: Checkpoint;
  isRunning: boolean;
}) {
  const verdict = proofOf(checkpoint, running);
  const drift = driftOf(checkpoint);
  const repeated = repeatedOf(checkpoint);
  return (
    <li>
      <div className={styles.head}>
        <strong>{checkpoint.stream}</strong>
        <VerdictBadge verdict={verdict} />
        <span className={styles.mode}>
          {checkpoint.since ? `${checkpoint.mode}, since ${checkpoint.since}` : checkpoint.mode}
        </span>
      </div>
      <Progress checkpoint={checkpoint} />
      <p className={styles.help}>
        {verdict.help}
        {drift && ` Drift: ${drift}.`}
        {repeated && ` ${repeated}.`}
      </p>
      {checkpoint.evidence && (
        <details>
          <summary>Evidence</summary>
          <Facts>
            {evidenceOf(checkpoint).map(({ name, words }) => (
              <Fact key={name} name={name}>
                {words}
              </Fact>
            ))}
          </Facts>
        </details>
      )}
    </li>
  );
}
