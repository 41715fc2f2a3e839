import type { MirrorDetail } from "../../api";
import { CopyButton, Fact, Facts, Panel, Time } from "../../design";
import { Value } from "../item/Value";
import styles from "../job/ConfigurationTab.module.css";

/** The description of the source. The server masks secrets. */
export function SourceTab({ mirror }: { mirror: MirrorDetail }) {
  return (
    <div className={styles.panels}>
      <Panel title="Mirror">
        <Facts>
          <Fact name="Id">
            {mirror.id} <CopyButton text={mirror.id} label="Copy id" />
          </Fact>
          <Fact name="Owner">{mirror.owner}</Fact>
          <Fact name="History">
            {mirror.history ? "Bodies before each change" : "Only when rows changed"}
          </Fact>
          <Fact name="Created">
            <Time at={mirror.createdAt} />
          </Fact>
          <Fact name="Digest">
            <code>{mirror.digest}</code>
          </Fact>
        </Facts>
      </Panel>
      <Panel title="Source">
        <Value value={mirror.source} />
      </Panel>
    </div>
  );
}
