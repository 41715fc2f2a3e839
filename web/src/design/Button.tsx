import type { ButtonHTMLAttributes, ReactNode } from "react";
import styles from "./Button.module.css";
import { classes } from "./classes";
import { Icon, type IconName } from "./Icon";

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** `primary`: the one thing to do here. `danger`: it cannot be taken back. `quiet`: no frame. */
  variant?: "plain" | "primary" | "danger" | "quiet";
  icon?: IconName;
  /** It was pressed, and the answer is on the way. */
  busy?: boolean;
  children?: ReactNode;
}

/** A button; one without words needs an `aria-label`, which also shows on hover. */
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
