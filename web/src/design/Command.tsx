import { useEffect, useState } from "react";
import { Button } from "./Button";
import styles from "./Command.module.css";

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

/** Copies a text to the clipboard and confirms it. */
export function CopyButton({
  text,
  label = "Copy",
  children,
}: {
  text: string;
  label?: string;
  /** Text of the button; without it, only an icon is shown. */
  children?: string;
}) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return (
    <Button
      variant="quiet"
      icon={isCopied ? "check" : "copy"}
      aria-label={isCopied ? `Copied. ${label}` : label}
      onClick={(event) => {
        event.stopPropagation();
        void navigator.clipboard.writeText(text).then(() => setCopied(true));
      }}
    >
      {children}
    </Button>
  );
}
