import { getRouteApi } from "@tanstack/react-router";
import { useItem } from "../../api";
import { ErrorState, Loading, Panel, Screen } from "../../design";
import { useLiveJob } from "../../live";
import { ItemBody } from "./ItemBody";
import { titleOf } from "./model";
import { RunItemAgain } from "./RunItemAgain";

const route = getRouteApi("/frame/items/$itemId");

export function ItemScreen() {
  const { itemId } = route.useParams();
  const item = useItem(itemId);
  const title = titleOf(item.data, itemId);
  return (
    <Screen title={title} actions={item.data && <RunItemAgain item={item.data} />}>
      {item.error ? (
        <ErrorState error={item.error} retry={() => void item.refetch()} />
      ) : item.data ? (
        <Panel>
          <Listening jobId={item.data.jobId} />
          <h2 className="unseen">Item details</h2>
          <ItemBody item={item.data} />
        </Panel>
      ) : (
        <Loading label="Loading item" />
      )}
    </Screen>
  );
}

function Listening({ jobId }: { jobId: string }) {
  useLiveJob(jobId);
  return null;
}
