import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type MirrorDetail, useJob, useMirror } from "../../api";
import { ErrorState, grouped, Loading, ProgressBar, Screen, type Tab, Tabs } from "../../design";
import { useLiveJob } from "../../live";
import styles from "../job/JobScreen.module.css";
import { Notice } from "../job/Notice";
import { PassState } from "../mirrors/columns";
import { isRunning } from "../mirrors/model";
import { DifferencesTab } from "./DifferencesTab";
import { FailedTab } from "./FailedTab";
import { MirrorButtons } from "./MirrorButtons";
import { MirrorFacts } from "./MirrorFacts";
import { failedIn } from "./model";
import { PassesTab } from "./PassesTab";
import { SourceTab } from "./SourceTab";
import { StreamsTab } from "./StreamsTab";

const route = getRouteApi("/frame/mirrors/$mirrorId");

/** One mirror: its streams as of the newest pass, and tabs for everything else. */
export function MirrorScreen() {
  const { mirrorId } = route.useParams();
  const mirror = useMirror(mirrorId);
  if (mirror.error) {
    return (
      <Screen title={`Mirror ${mirrorId}`}>
        <ErrorState error={mirror.error} retry={() => void mirror.refetch()} />
        <p className={styles.back}>
          <Link to="/mirrors">Go to Mirrors</Link>
        </p>
      </Screen>
    );
  }
  if (!mirror.data) {
    return (
      <Screen title={`Mirror ${mirrorId}`}>
        <Loading label="Loading mirror" />
      </Screen>
    );
  }
  return <MirrorPage key={mirrorId} mirror={mirror.data} />;
}

function MirrorPage({ mirror }: { mirror: MirrorDetail }) {
  const { newest } = mirror;
  return (
    <Screen
      title={mirror.name}
      heading={
        <span className={styles.heading}>
          <span className={styles.name}>{mirror.name}</span> {newest && <PassState pass={newest} />}
        </span>
      }
      actions={<MirrorButtons mirror={mirror} />}
    >
      {newest?.job && isRunning(newest) && <Progress jobId={newest.id} />}
      <MirrorFacts mirror={mirror} />
      <MirrorTabs mirror={mirror} />
    </Screen>
  );
}

/** Pages of the unfinished pass. */
function Progress({ jobId }: { jobId: string }) {
  useLiveJob(jobId);
  const job = useJob(jobId).data;
  if (!job) return null;
  return (
    <>
      <Notice job={job} />
      <ProgressBar counts={job.counts} />
    </>
  );
}

function MirrorTabs({ mirror }: { mirror: MirrorDetail }) {
  const { tab = "streams" } = route.useSearch();
  const navigate = useNavigate();
  const failed = failedIn(mirror.newest);
  const tabs: Tab[] = [
    { id: "streams", label: "Streams", extra: grouped(mirror.streams.length) },
    { id: "passes", label: "Passes" },
    { id: "failed", label: "Failed pages", ...(failed ? { extra: grouped(failed) } : {}) },
    { id: "differences", label: "Differences" },
    { id: "source", label: "Source" },
  ];
  return (
    <Tabs
      label="Mirror sections"
      tabs={tabs}
      open={tab}
      // Filters belong to the tab that is closed.
      onOpen={(id) => void navigate({ to: ".", search: { tab: id } as object })}
    >
      <div className={styles.tab}>
        <TabBody tab={tab} mirror={mirror} />
      </div>
    </Tabs>
  );
}

function TabBody({ tab, mirror }: { tab: string; mirror: MirrorDetail }) {
  switch (tab) {
    case "passes":
      return <PassesTab mirror={mirror} />;
    case "failed":
      return <FailedTab mirror={mirror} />;
    case "differences":
      return <DifferencesTab mirror={mirror} />;
    case "source":
      return <SourceTab mirror={mirror} />;
    default:
      return <StreamsTab mirror={mirror} />;
  }
}
