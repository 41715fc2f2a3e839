import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { asProblem, type Oldest, useMay, useOldest } from "../../api";
import {
  Ago,
  Button,
  classes,
  counted,
  grouped,
  Loading,
  StatusBadge,
  usePhone,
} from "../../design";
import { useFilter } from "../../shell/urlState";
import styles from "./OldestPanel.module.css";

/** Entries shown at first: a phone has little room above the list. */
const FIRST = 3;
const FIRST_ON_PHONE = 1;

/** The oldest open items, by job and by provider. */
export function OldestPanel({ userId }: { userId: "me" | "all" }) {
  const oldest = useOldest(userId);
  // The list below fails for the same reason and shows it.
  if (oldest.error)
    return <p>The oldest items could not be loaded: {asProblem(oldest.error).detail}</p>;
  if (!oldest.data) return <Loading lines={3} label="Loading oldest items" />;
  if (oldest.data.jobs.length === 0) return null;
  return (
    <div className={styles.panels}>
      <OldestByJob jobs={oldest.data.jobs} />
      {oldest.data.providers.length > 0 && <OldestByProvider providers={oldest.data.providers} />}
    </div>
  );
}

function OldestByJob({ jobs }: Pick<Oldest, "jobs">) {
  const setFilter = useFilter();
  return (
    <Part title="Oldest by job" count={jobs.length}>
      {(shown) =>
        jobs.slice(0, shown).map((job) => (
          <li key={job.jobId} className={styles.line}>
            <Button
              variant="quiet"
              className={styles.name}
              onClick={() => setFilter({ jobId: job.jobId })}
            >
              <span className={styles.text}>{job.name || `Job ${job.jobId}`}</span>
            </Button>
            <span className={styles.state}>
              <StatusBadge status={job.state} />
            </span>
            <span className={styles.many}>
              {grouped(job.counts.pending + job.counts.processing)} open
            </span>
            <span className={styles.age}>
              <Ago at={job.oldestAt} />
            </span>
          </li>
        ))
      }
    </Part>
  );
}

function OldestByProvider({ providers }: Pick<Oldest, "providers">) {
  const isAdmin = useMay("admin");
  return (
    <Part title="Oldest by provider" count={providers.length}>
      {(shown) =>
        providers.slice(0, shown).map((provider) => (
          <li key={provider.name} className={classes(styles.line, styles.short)}>
            <span className={styles.name}>
              {isAdmin ? (
                <Link to="/providers" search={{ q: provider.name }}>
                  {provider.name}
                </Link>
              ) : (
                provider.name
              )}
            </span>
            <span className={styles.many}>{counted(provider.jobs, "job")}</span>
            <span className={styles.age}>
              <Ago at={provider.oldestAt} />
            </span>
          </li>
        ))
      }
    </Part>
  );
}

function Part({
  title,
  count,
  children,
}: {
  title: string;
  count: number;
  children: (shown: number) => ReactNode;
}) {
  const [isWhole, setWhole] = useState(false);
  const first = usePhone() ? FIRST_ON_PHONE : FIRST;
  return (
    <section className={styles.part}>
      <header className={styles.head}>
        <h2>{title}</h2>
        {count > first && (
          <Button variant="quiet" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? "Show fewer" : `Show all ${grouped(count)}`}
          </Button>
        )}
      </header>
      <ul className={styles.list}>{children(isWhole ? count : first)}</ul>
    </section>
  );
}
