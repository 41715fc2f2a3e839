import { EmptyState, Screen } from "../../design";

/** What waits or runs, across jobs. */
export function PendingScreen() {
  return (
    <Screen title="Pending">
      <EmptyState title="This screen is not built yet" />
    </Screen>
  );
}
