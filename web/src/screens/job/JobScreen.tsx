import { EmptyState, Screen } from "../../design";

/** One job with its tabs. */
export function JobScreen() {
  return (
    <Screen title="Job">
      <EmptyState title="This screen is not built yet" />
    </Screen>
  );
}
