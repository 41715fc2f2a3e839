import { EmptyState, Screen } from "../../design";

/** People, tokens, and how the service is. */
export function SettingsScreen() {
  return (
    <Screen title="Settings">
      <EmptyState title="This screen is not built yet" />
    </Screen>
  );
}
