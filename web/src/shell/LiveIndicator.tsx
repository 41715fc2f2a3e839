import { Button, classes, Icon, useNow } from "../design";
import { duration } from "../design/format";
import { useLive } from "../live";
import styles from "./LiveIndicator.module.css";

/** The live state: live, paused, or stale and since when. A click pauses updates. */
export function LiveIndicator() {
  const { mode, lastMessageAt, pause, resume } = useLive();
  if (mode === "paused") {
    return (
      <Button icon="play" onClick={resume} className={styles.paused} title="Resume live updates">
        Updates paused
      </Button>
    );
  }
  if (mode === "stale") {
    return (
      <span className={classes(styles.state, styles.stale)} role="status">
        <Icon name="warn" /> Stale <Age since={lastMessageAt} />
      </span>
    );
  }
  return (
    <Button variant="quiet" onClick={pause} title="Pause live updates">
      <span className={classes(styles.dot, mode === "live" && styles.live)} />
      {mode === "live" ? "Live" : "Connecting"}
    </Button>
  );
}

function Age({ since }: { since: number | null }) {
  const now = useNow();
  if (since === null) return null;
  return <span>for {duration(Math.max(1, Math.round((now - since) / 1000)))}</span>;
}
