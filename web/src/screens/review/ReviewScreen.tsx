import { EmptyState, Screen } from "../../design";

/** Items that wait for a person. */
export function ReviewScreen() {
  return (
    <Screen title="Review">
      <EmptyState title="This screen is not built yet" />
    </Screen>
  );
}
