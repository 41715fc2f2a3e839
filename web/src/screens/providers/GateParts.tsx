import type { Gate } from "../../api";
import { Ago, duration, grouped, perSecond } from "../../design";
import styles from "./GateDrawer.module.css";
import { Countdown } from "./GateState";
import { brokenHosts } from "./model";

/** Hosts that the breaker blocks. */
export function BrokenHosts({ gate }: { gate: Gate }) {
  const hosts = brokenHosts(gate);
  if (hosts.length === 0) return null;
  return (
    <section>
      <h3>Hosts that do not answer</h3>
      <ul className={styles.list}>
        {hosts.map(({ host, again }) => (
          <li key={host} className={styles.line}>
            <span>{host}</span>
            <Countdown until={again} verb="next try" />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Budgets and their use. */
export function Budgets({ budgets }: Pick<Gate, "budgets">) {
  if (budgets.length === 0) return null;
  return (
    <section>
      <h3>Budgets</h3>
      <ul className={styles.list}>
        {budgets.map((budget) => (
          <li key={budget.name}>
            <span className={styles.line}>
              <span>
                {budget.name}: {grouped(budget.used)} of {grouped(budget.count)} in{" "}
                {duration(budget.seconds)}
              </span>
              <span className={styles.quiet}>
                {budget.hard ? "hard limit" : "warning only"}, resets <Ago at={budget.turnsAt} />
              </span>
            </span>
            <meter
              className={styles.bar}
              aria-label={`${budget.name} used`}
              min={0}
              max={budget.count}
              value={budget.used}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The processes that share a gate. */
export function Members({ members }: Pick<Gate, "members">) {
  if (members.length === 0) return null;
  return (
    <section>
      <h3>Processes</h3>
      <ul className={styles.list}>
        {members.map((member) => (
          <li key={member.worker} className={styles.line}>
            <span>{member.worker}</span>
            <span className={styles.quiet}>
              {grouped(member.inFlight)} in flight
              {member.waiting ? ", waits" : ""}
              {member.couldUsePerS === null ? "" : `, could use ${perSecond(member.couldUsePerS)}`},
              seen <Ago at={member.seenAt} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
