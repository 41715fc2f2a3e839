import styles from "./Command.module.css";
import { CopyButton } from "./CopyButton";

export function Command({ children }: { children: string }) {
  return (
    <div className={styles.command}>
      <pre>
        <code>{children}</code>
      </pre>
      <CopyButton text={children} label="Copy command" />
    </div>
  );
}
