import { type PassReport, type Session, usePassReport } from "../../api";
import { Ago, ErrorState, Fact, Facts, grouped, Loading, perSecond, Time } from "../../design";
import styles from "./PassDrawer.module.css";

/** Sessions of a pass with their workers and throughput, and how the source answered. */
export function PassWork({ passId }: { passId: string }) {
  const report = usePassReport(passId);
  if (report.error) {
    return <ErrorState error={report.error} retry={() => void report.refetch()} />;
  }
  if (!report.data) return <Loading label="Loading report" lines={4} />;
  return (
    <div className={styles.work}>
      <Sessions sessions={report.data.sessions} />
      <Requests report={report.data} />
      <WorkerErrors errors={report.data.errorsByWorker} />
    </div>
  );
}

function Sessions({ sessions }: { sessions: readonly Session[] }) {
  if (sessions.length === 0) return null;
  return (
    <section>
      <h3>Sessions</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <div className={styles.table} role="region" aria-label="Sessions" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Started</th>
              <th scope="col">Workers</th>
              <th scope="col">Pages</th>
              <th scope="col">Rows</th>
              <th scope="col">Page rate</th>
              <th scope="col">Row rate</th>
            </tr>
          </thead>
          <tbody>
            {sessions.map((each) => (
              <tr key={each.id} title={each.id}>
                <td>
                  <Time at={each.startedAt} />
                </td>
                <td>{grouped(each.workerCount)}</td>
                <td>{grouped(each.pages)}</td>
                <td>{grouped(each.rows)}</td>
                <td>{perSecond(each.pagesPerS)}</td>
                <td>{perSecond(each.rowsPerS)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Requests({ report }: { report: PassReport }) {
  const { refusals, configuredPerS, currentPerS, backoffMultiplier } = report;
  return (
    <section>
      <h3>Requests</h3>
      <Facts variant="tiles">
        <Fact name="Sent">{grouped(report.requests)}</Fact>
        <Fact name="Throttled">{grouped(refusals)}</Fact>
        {refusals > 0 && (
          <>
            <Fact name="Last throttled">
              <Ago at={report.lastRefusalAt} />
            </Fact>
            <Fact name="Successes since">{grouped(report.successesSinceRefusal)}</Fact>
          </>
        )}
        <Fact name="Configured limit">
          {configuredPerS === null ? "None" : perSecond(configuredPerS)}
        </Fact>
        <Fact name="Current limit">{perSecond(currentPerS)}</Fact>
        {backoffMultiplier > 1 && (
          <Fact name="Slowed down">{backoffMultiplier.toFixed(1)} times</Fact>
        )}
      </Facts>
    </section>
  );
}

function WorkerErrors({ errors }: { errors: PassReport["errorsByWorker"] }) {
  if (errors.length === 0) return null;
  return (
    <section>
      <h3>Failed attempts by worker</h3>
      <Facts>
        {errors.map(({ worker, errors: many }) => (
          <Fact key={worker} name={worker}>
            {grouped(many)}
          </Fact>
        ))}
      </Facts>
    </section>
  );
}
