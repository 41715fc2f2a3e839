import { EmptyState, Screen } from "../../design";

/** A file, a handler, a look at the rows; then a job. */
export function NewJobScreen() {
  return (
    <Screen title="New job">
      <EmptyState title="This screen is not built yet" />
    </Screen>
  );
}
