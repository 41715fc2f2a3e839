import { EmptyState, Screen } from "../../design";

/** Gates, and what was learned of them. */
export function ProvidersScreen() {
  return (
    <Screen title="Providers">
      <EmptyState title="This screen is not built yet" />
    </Screen>
  );
}
