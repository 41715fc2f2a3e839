import type { Gate } from "../../api";
import {
  Ago,
  counted,
  Drawer,
  duration,
  Fact,
  Facts,
  grouped,
  percent,
  perSecond,
} from "../../design";
import { learned, now } from "./columns";
import { Evidence } from "./Evidence";
import { GateActions } from "./GateActions";
import styles from "./GateDrawer.module.css";
import { BrokenHosts, Budgets, Members } from "./GateParts";
import { GateState } from "./GateState";
import { brokenHosts } from "./look";

/** All that is known of one gate, and what was made of it. */
export function GateDrawer({ gate, onClose }: { gate: Gate; onClose: () => void }) {
  return (
    <Drawer
      title={gate.name}
      onClose={onClose}
      actions={<GateActions gate={gate} label="Actions" />}
    >
      <div className={styles.parts}>
        <div>
          <GateState gate={gate} />
          <p className={styles.why}>{held(gate)}</p>
        </div>
        <Word gate={gate} />
        <Facts look="tiles">
          <Fact name="Configured">{gate.configured || "nothing"}</Fact>
          <Fact name="Learned">{learned(gate)}</Fact>
          <Fact name="Now, at most">{now(gate)}</Fact>
          <Fact name="In flight">{inFlight(gate)}</Fact>
          <Fact name="429 share">
            {gate.replies
              ? `${percent(gate.refusedShare)} (${grouped(gate.refusals)} in all)`
              : "–"}
          </Fact>
          <Fact name="Answers">{grouped(gate.replies)}</Fact>
          <Fact name="Latency">{gate.latencyS === null ? "–" : duration(gate.latencyS)}</Fact>
          <Fact name="Breaker">{breaker(gate)}</Fact>
          <Fact name="Stage">{gate.stage}</Fact>
        </Facts>
        <BrokenHosts gate={gate} />
        <Budgets budgets={gate.budgets} />
        <section>
          <h3>Evidence</h3>
          {gate.evidence.length === 0 && (
            <p className={styles.quiet}>Nothing was learned here yet.</p>
          )}
          <Evidence lines={[...gate.evidence].reverse()} />
        </section>
        <Members members={gate.members} />
      </div>
    </Drawer>
  );
}

function Word({ gate: { override } }: { gate: Gate }) {
  if (!override) return null;
  const said = override.paused ? "Paused by an operator" : `Set to ${perSecond(override.rate)}`;
  return (
    <p className={styles.word}>
      {said},{" "}
      {override.until ? (
        <>
          ends <Ago at={override.until} />
        </>
      ) : (
        "until somebody takes it back"
      )}
      .
    </p>
  );
}

function breaker(gate: Gate): string {
  const broken = brokenHosts(gate).length;
  return broken ? `open: ${counted(broken, "host")} left alone` : "closed: all hosts answer";
}

function held({ why, cause, closed }: Gate): string {
  if (!why || (cause === "open" && !closed)) return "Nothing holds requests back.";
  return `What holds requests back: ${why}.`;
}

function inFlight({ inFlight: many, configuredInFlight, learnedInFlight }: Gate): string {
  const caps = [
    configuredInFlight === null ? "" : `${grouped(configuredInFlight)} configured`,
    learnedInFlight === null ? "" : `${grouped(learnedInFlight)} learned`,
  ].filter(Boolean);
  return caps.length ? `${grouped(many)} (at most ${caps.join(", ")})` : grouped(many);
}
