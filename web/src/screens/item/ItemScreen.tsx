import { EmptyState, Screen } from "../../design";

/** One item by its address. */
export function ItemScreen() {
  return (
    <Screen title="Item">
      <EmptyState title="This screen is not built yet" />
    </Screen>
  );
}
