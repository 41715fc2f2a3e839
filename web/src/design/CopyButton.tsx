import { useEffect, useState } from "react";
import { Button } from "./Button";

/** Puts a text on the clipboard, and says so. */
export function CopyButton({
  text,
  label = "Copy",
  children,
}: {
  text: string;
  label?: string;
  /** Words on the button; without, it is only an icon. */
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
