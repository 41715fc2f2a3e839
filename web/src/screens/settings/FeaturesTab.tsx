import { useAbout } from "../../api";
import { Badge, Command, Fact, Facts, grouped, Loading, Panel } from "../../design";
import styles from "./HealthTab.module.css";

/** What is switched on here, and how that is changed. */
export function FeaturesTab() {
  const about = useAbout();
  if (!about) return <Loading label="Loading the features" />;
  const isOn = about.features.pendingView;
  return (
    <div className={styles.health}>
      <Panel title="Feature flags">
        <Facts>
          <Fact name="Pending view">
            <Badge tone={isOn ? "done" : "pending"} icon={isOn ? "check" : "circle"}>
              {isOn ? "On" : "Off"}
            </Badge>{" "}
            What waits or runs, across jobs. The tab “Pending” of each job is always there.
          </Fact>
        </Facts>
        <p>Flags are settings of the server. Start it with another value to change one:</p>
        <Command>{`HEADGATE_SERVER__PENDING_VIEW=${isOn ? "false" : "true"} headgate serve`}</Command>
      </Panel>
      <Panel title="This server">
        <Facts>
          <Fact name="Version">{about.version}</Fact>
          <Fact name="Largest upload">{grouped(about.uploadMb)} MB</Fact>
          <Fact name="Items in a request">at most {grouped(about.inlineItems)}</Fact>
        </Facts>
        <p>Every setting, with where its value comes from:</p>
        <Command>headgate config show --origin</Command>
      </Panel>
    </div>
  );
}
