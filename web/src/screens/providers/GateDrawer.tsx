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
import { brokenHosts } from "./model";

/** Details of one gate, with its evidence. */
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
          <p className={styles.why}>{limitInWords(gate)}</p>
        </div>
        <Override gate={gate} />
        <Facts variant="tiles">
          <Fact name="Configured">{gate.configured || "None"}</Fact>
          <Fact name="Learned">{learned(gate)}</Fact>
          <Fact name="Current limit">{now(gate)}</Fact>
          <Fact name="In flight">{inFlight(gate)}</Fact>
          <Fact name="Throttled">
            {gate.replies
              ? `${percent(gate.refusedShare)} (${grouped(gate.refusals)} in total)`
              : "–"}
          </Fact>
          <Fact name="Responses">{grouped(gate.replies)}</Fact>
          <Fact name="Latency">{gate.latencyS === null ? "–" : duration(gate.latencyS)}</Fact>
          <Fact name="Breaker">{breaker(gate)}</Fact>
          <Fact name="Stage">{gate.stage}</Fact>
        </Facts>
        <BrokenHosts gate={gate} />
        <Budgets budgets={gate.budgets} />
        <section>
          <h3>Evidence</h3>
          {gate.evidence.length === 0 && <p className={styles.quiet}>Nothing learned yet.</p>}
          <Evidence lines={[...gate.evidence].reverse()} />
        </section>
        <Members members={gate.members} />
      </div>
    </Drawer>
  );
}

function Override({ gate: { override } }: { gate: Gate }) {
  if (!override) return null;
  const text = override.paused ? "Paused by an operator" : `Set to ${perSecond(override.rate)}`;
  return (
    <p className={styles.word}>
      {text},{" "}
      {override.until ? (
        <>
          ends <Ago at={override.until} />
        </>
      ) : (
        "until it is removed"
      )}
      .
    </p>
  );
}

function breaker(gate: Gate): string {
  const broken = brokenHosts(gate).length;
  return broken
    ? `Stops requests: ${counted(broken, "host")} not answering`
    : "Not active: all hosts answer";
}

function limitInWords({ why, cause, closed }: Gate): string {
  if (!why || (cause === "open" && !closed)) return "Nothing delays requests.";
  return `Requests are delayed by: ${why}.`;
}

function inFlight({ inFlight: many, configuredInFlight, learnedInFlight }: Gate): string {
  const caps = [
    configuredInFlight === null ? "" : `${grouped(configuredInFlight)} configured`,
    learnedInFlight === null ? "" : `${grouped(learnedInFlight)} learned`,
  ].filter(Boolean);
  return caps.length ? `${grouped(many)} (at most ${caps.join(", ")})` : grouped(many);
}
