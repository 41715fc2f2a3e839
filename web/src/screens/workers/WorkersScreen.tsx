import { EmptyState, Screen } from "../../design";

/** Who is alive. */
export function WorkersScreen() {
  return (
    <Screen title="Workers">
      <EmptyState title="This screen is not built yet" />
    </Screen>
  );
}
