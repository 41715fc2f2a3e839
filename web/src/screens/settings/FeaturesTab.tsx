import { useAbout } from "../../api";
import { Badge, Command, Fact, Facts, grouped, Loading, Panel } from "../../design";
import styles from "./HealthTab.module.css";

export function FeaturesTab() {
  const about = useAbout();
  if (!about) return <Loading label="Loading features" />;
  const isOn = about.features.pendingView;
  return (
    <div className={styles.health}>
      <Panel title="Feature flags">
        <Facts>
          <Fact name="Pending view">
            <Badge tone={isOn ? "done" : "pending"} icon={isOn ? "check" : "circle"}>
              {isOn ? "On" : "Off"}
            </Badge>{" "}
            Pending and processing items across jobs. Each job always has its own Pending tab.
          </Fact>
        </Facts>
        <p>Flags are server settings. To change one, restart the server with another value:</p>
        <Command>{`HEADGATE_SERVER__PENDING_VIEW=${isOn ? "false" : "true"} headgate serve`}</Command>
      </Panel>
      <Panel title="This server">
        <Facts>
          <Fact name="Version">{about.version}</Fact>
          <Fact name="Largest upload">{grouped(about.uploadMb)} MB</Fact>
          <Fact name="Items per request">at most {grouped(about.inlineItems)}</Fact>
        </Facts>
        <p>All settings and the origin of their values:</p>
        <Command>headgate config show --origin</Command>
      </Panel>
    </div>
  );
}
