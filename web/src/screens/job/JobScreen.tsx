import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef } from "react";
import { isUnfinished, type Job, settled, useJob } from "../../api";
import {
  Button,
  ErrorState,
  grouped,
  JobBadge,
  Loading,
  ProgressBar,
  percent,
  Screen,
  type Tab,
  Tabs,
  usePhone,
} from "../../design";
import { useLiveJob } from "../../live";
import { loaded } from "../../shell/loading";
import { useFilter } from "../../shell/urlState";
import { isRead } from "../jobs/model";
import { ActivityTab } from "./ActivityTab";
import { ConfigurationTab } from "./ConfigurationTab";
import { Counters } from "./Counters";
import { ChartsPlaceholder } from "./charts/ChartsPlaceholder";
import { ErrorsTab } from "./ErrorsTab";
import { ExportsTab } from "./ExportsTab";
import { GridTab } from "./grid/GridTab";
import { JobButtons } from "./JobButtons";
import { JobFacts, ReadingProgress } from "./JobFacts";
import styles from "./JobScreen.module.css";
import { Notice } from "./Notice";
import { PendingTab } from "./PendingTab";

const route = getRouteApi("/frame/jobs/$jobId");
const JobCharts = lazy(async () => ({
  default: (await loaded(import("./charts/JobCharts"))).JobCharts,
}));

/** One job: its progress, and tabs for everything else. */
export function JobScreen() {
  const { jobId } = route.useParams();
  useLiveJob(jobId);
  const job = useJob(jobId);
  useFreshState(job.data?.state, job.refetch);
  if (job.error) {
    return (
      <Screen title={`Job ${jobId}`}>
        <ErrorState error={job.error} retry={() => void job.refetch()} />
        <p className={styles.back}>
          <Link to="/">Go to Jobs</Link>
        </p>
      </Screen>
    );
  }
  if (!job.data) {
    return (
      <Screen title={`Job ${jobId}`}>
        <Loading label="Loading job" />
      </Screen>
    );
  }
  return <JobPage key={jobId} job={job.data} />;
}

/** Reloads a job when its state changes: messages carry the state, but not its time and reason. */
function useFreshState(state: string | undefined, refetch: () => void): void {
  const known = useRef(state);
  useEffect(() => {
    if (known.current !== undefined && known.current !== state) refetch();
    known.current = state;
  }, [state, refetch]);
}

function JobPage({ job }: { job: Job }) {
  const name = job.name || `Job ${job.id}`;
  return (
    <Screen
      title={name}
      heading={
        <span className={styles.heading}>
          <span className={styles.name} title={name}>
            {name}
          </span>{" "}
          <JobBadge job={job} />
        </span>
      }
      actions={<JobButtons job={job} />}
    >
      <Notice job={job} />
      <Summary job={job} />
      <JobTabs job={job} />
    </Screen>
  );
}

function Summary({ job }: { job: Job }) {
  const { tab, statuses, charts } = route.useSearch();
  const setFilter = useFilter();
  const navigate = useNavigate();
  const isPhone = usePhone();
  const isDrawn = charts === undefined ? isUnfinished(job) && !isPhone : charts === "on";
  const isGrid = tab === undefined || tab === "grid";
  const { total } = job.counts;
  return (
    <section className={styles.summary} aria-label="Progress">
      <div className={styles.progress}>
        {isRead(job) ? (
          <ReadingProgress job={job} />
        ) : (
          <>
            <ProgressBar counts={job.counts} />
            <span className={styles.share}>
              {grouped(settled(job.counts))} of {grouped(total)} (
              {percent(total ? settled(job.counts) / total : 0)})
            </span>
          </>
        )}
        <Button
          variant="quiet"
          icon={isDrawn ? "chevronUp" : "chevronDown"}
          aria-expanded={isDrawn}
          onClick={() => setFilter({ charts: isDrawn ? "off" : "on" })}
        >
          Charts
        </Button>
      </div>
      <Counters
        job={job}
        chosen={isGrid ? statuses : null}
        onChoose={(chosen) =>
          void navigate({
            to: ".",
            search: { tab: "grid", statuses: chosen, charts } as object,
          })
        }
      />
      <JobFacts job={job} />
      {isDrawn && (
        <Suspense fallback={<ChartsPlaceholder />}>
          <JobCharts job={job} />
        </Suspense>
      )}
    </section>
  );
}

function JobTabs({ job }: { job: Job }) {
  const { tab = "grid", charts } = route.useSearch();
  const navigate = useNavigate();
  const open = job.counts.pending + job.counts.processing;
  const tabs: Tab[] = [
    { id: "grid", label: "Grid" },
    { id: "pending", label: "Pending", ...extra(open) },
    { id: "errors", label: "Errors", ...extra(job.counts.error) },
    { id: "activity", label: "Activity" },
    { id: "exports", label: "Exports" },
    { id: "configuration", label: "Configuration" },
  ];
  return (
    <Tabs
      label="Job sections"
      tabs={tabs}
      open={tab}
      // Filters belong to the tab that is closed.
      onOpen={(id) => void navigate({ to: ".", search: { tab: id, charts } as object })}
    >
      <div className={styles.tab}>
        <TabBody tab={tab} job={job} />
      </div>
    </Tabs>
  );
}

function extra(count: number) {
  return count ? { extra: grouped(count) } : {};
}

function TabBody({ tab, job }: { tab: string; job: Job }) {
  switch (tab) {
    case "pending":
      return <PendingTab job={job} />;
    case "errors":
      return <ErrorsTab job={job} />;
    case "activity":
      return <ActivityTab job={job} />;
    case "exports":
      return <ExportsTab job={job} />;
    case "configuration":
      return <ConfigurationTab job={job} />;
    default:
      return <GridTab job={job} />;
  }
}
