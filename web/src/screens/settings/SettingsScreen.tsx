import { getRouteApi } from "@tanstack/react-router";
import { useMay } from "../../api";
import { Screen, type Tab, Tabs } from "../../design";
import { useFilter } from "../../shell/urlState";
import { FeaturesTab } from "./FeaturesTab";
import { HealthTab } from "./HealthTab";
import { TokensTab } from "./TokensTab";
import { UsersTab } from "./UsersTab";

const route = getRouteApi("/frame/settings");

const FOR_ADMINS: Tab[] = [
  { id: "health", label: "Health" },
  { id: "users", label: "Users" },
];
const FOR_ALL: Tab[] = [
  { id: "tokens", label: "Tokens" },
  { id: "features", label: "Features" },
];

/** Health, users, tokens and features. */
export function SettingsScreen() {
  const { tab } = route.useSearch();
  const setFilter = useFilter();
  const tabs = useMay("admin") ? [...FOR_ADMINS, ...FOR_ALL] : FOR_ALL;
  const open = tabs.find(({ id }) => id === tab)?.id ?? tabs[0]?.id ?? "tokens";
  return (
    <Screen title="Settings">
      <Tabs label="Settings" tabs={tabs} open={open} onOpen={(id) => setFilter({ tab: id })}>
        {open === "health" && <HealthTab />}
        {open === "users" && <UsersTab />}
        {open === "tokens" && <TokensTab />}
        {open === "features" && <FeaturesTab />}
      </Tabs>
    </Screen>
  );
}
