import type { ReactNode } from "react";
import styles from "./Badge.module.css";
import { usePhone } from "./hooks";
import { Icon, type IconName } from "./Icon";
import { type JobOutcome, jobStyle, statusStyle, type Tone, toneStyle } from "./status";

/** A label in a coloured frame, with an icon so that colour is not the only sign. */
export function Badge({
  tone,
  icon,
  children,
  title,
}: {
  tone: Tone;
  icon?: IconName;
  children: ReactNode;
  title?: string | undefined;
}) {
  return (
    <span className={styles.badge} style={toneStyle(tone)} title={title}>
      {icon && <Icon name={icon} size={12} />}
      {children}
    </span>
  );
}

export function JobBadge({ job }: { job: JobOutcome }) {
  const { tone, icon, label, short, help } = jobStyle(job);
  const isPhone = usePhone();
  return (
    <Badge tone={tone} icon={icon} title={help}>
      {isPhone ? short : label}
    </Badge>
  );
}

export function StatusBadge({ status }: { status: string }) {
  const { tone, icon, label, help } = statusStyle(status);
  return (
    <Badge tone={tone} icon={icon} title={help}>
      {label}
    </Badge>
  );
}
