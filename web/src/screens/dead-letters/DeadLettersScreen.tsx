import { EmptyState, Screen } from "../../design";

/** What ended in ERROR, across jobs. */
export function DeadLettersScreen() {
  return (
    <Screen title="Dead letters">
      <EmptyState title="This screen is not built yet" />
    </Screen>
  );
}
