import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Problem, type Stream, useMirror } from "../../api";
import { ErrorState, grouped, Loading, Screen, type Tab, Tabs } from "../../design";
import styles from "../job/JobScreen.module.css";
import { ChangesTab } from "./ChangesTab";
import { FieldsTab } from "./FieldsTab";
import { RowsTab } from "./RowsTab";

const route = getRouteApi("/frame/mirrors/$mirrorId/streams/$streamId");

/** One stream of a mirror: its rows, their changes, and their fields. */
export function StreamScreen() {
  const { mirrorId, streamId } = route.useParams();
  const mirror = useMirror(mirrorId);
  const stream = mirror.data?.streams.find(({ id }) => id === streamId);
  const error = mirror.error ?? (mirror.data && !stream ? unknown(streamId) : null);
  if (stream && mirror.data) {
    return <StreamPage key={streamId} stream={stream} mirror={mirror.data.name} />;
  }
  return (
    <Screen title={`Stream ${streamId}`}>
      {error ? (
        <>
          <ErrorState error={error} retry={() => void mirror.refetch()} />
          <p className={styles.back}>
            <Link to="/mirrors">Go to Mirrors</Link>
          </p>
        </>
      ) : (
        <Loading label="Loading stream" />
      )}
    </Screen>
  );
}

function unknown(streamId: string): Problem {
  return new Problem(404, "Not Found", `Stream ${streamId} not found.`);
}

function StreamPage({ stream, mirror }: { stream: Stream; mirror: string }) {
  const { mirrorId } = route.useParams();
  const { tab = "rows" } = route.useSearch();
  const navigate = useNavigate();
  const tabs: Tab[] = [
    { id: "rows", label: "Rows", extra: grouped(stream.live) },
    { id: "changes", label: "Changes" },
    { id: "fields", label: "Fields" },
  ];
  return (
    <Screen
      title={`${stream.name} of ${mirror}`}
      heading={
        <>
          {stream.name} of{" "}
          <Link to="/mirrors/$mirrorId" params={{ mirrorId }}>
            {mirror}
          </Link>
        </>
      }
    >
      <Tabs
        label="Stream sections"
        tabs={tabs}
        open={tab}
        onOpen={(id) => void navigate({ to: ".", search: { tab: id } as object })}
      >
        <div className={styles.tab}>
          <TabBody tab={tab} stream={stream} />
        </div>
      </Tabs>
    </Screen>
  );
}

function TabBody({ tab, stream }: { tab: string; stream: Stream }) {
  const place = { mirrorId: route.useParams().mirrorId, streamId: stream.id };
  switch (tab) {
    case "changes":
      return <ChangesTab place={place} />;
    case "fields":
      return <FieldsTab place={place} />;
    default:
      return <RowsTab place={place} stream={stream} />;
  }
}
