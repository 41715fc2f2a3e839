import type { ButtonHTMLAttributes, ReactNode } from "react";
import styles from "./Button.module.css";
import { classes } from "./format";
import { Icon, type IconName } from "./Icon";

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** `primary`: the main action. `danger`: it cannot be undone. `quiet`: no frame. */
  variant?: "plain" | "primary" | "danger" | "quiet";
  icon?: IconName;
  /** The action is running. */
  busy?: boolean;
  children?: ReactNode;
}

/** A button. Without text it needs an `aria-label`, which is also the tooltip. */
export function Button({ variant = "plain", icon, busy, children, ...rest }: ButtonProps) {
  const { className, disabled, title, ...attributes } = rest;
  return (
    <button
      type="button"
      {...attributes}
      title={title ?? (children ? undefined : attributes["aria-label"])}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      className={classes(styles.button, styles[variant], !children && styles.bare, className)}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}
