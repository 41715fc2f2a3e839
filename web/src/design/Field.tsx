import {
  type InputHTMLAttributes,
  type ReactNode,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import { classes } from "./classes";
import styles from "./Field.module.css";

export interface FieldProps {
  label: string;
  /** What it means, in a line; shown below. */
  hint?: ReactNode;
  /** What is wrong with the value; read out at once. */
  problem?: string | undefined;
  /** The label is for those who listen; others see it from the place or the placeholder. */
  hideLabel?: boolean;
}

interface Wiring {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

/** A label, a control and what is to be said about it. */
export function Labelled({
  label,
  hint,
  problem,
  hideLabel,
  children,
}: FieldProps & { children: (wiring: Wiring) => ReactNode }) {
  const id = useId();
  const note = problem ?? hint;
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={classes(styles.label, hideLabel && "unseen")}>
        {label}
      </label>
      {children({
        id,
        "aria-describedby": note ? `${id}-note` : undefined,
        "aria-invalid": problem ? true : undefined,
      })}
      {note && (
        <p
          id={`${id}-note`}
          className={classes(styles.note, problem !== undefined && styles.problem)}
          role={problem ? "alert" : undefined}
        >
          {note}
        </p>
      )}
    </div>
  );
}

/** A line of text. */
export function Field({
  label,
  hint,
  problem,
  hideLabel,
  ...input
}: FieldProps & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <Labelled {...defined({ label, hint, problem, hideLabel })}>
      {(wiring) => (
        <input {...input} {...wiring} className={classes(styles.input, input.className)} />
      )}
    </Labelled>
  );
}

/** Several lines of text. */
export function TextArea({
  label,
  hint,
  problem,
  hideLabel,
  ...area
}: FieldProps & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Labelled {...defined({ label, hint, problem, hideLabel })}>
      {(wiring) => (
        <textarea {...area} {...wiring} className={classes(styles.input, styles.area)} />
      )}
    </Labelled>
  );
}

/** Yes or no; with `type="radio"`, one of several. */
export function Checkbox({
  label,
  hint,
  ...input
}: { label: ReactNode; hint?: ReactNode } & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <label className={styles.check}>
      <input type="checkbox" {...input} />
      <span>
        {label}
        {hint && <small className={styles.note}>{hint}</small>}
      </span>
    </label>
  );
}

/** The same without what is undefined: an optional property may be left out, not empty. */
export function defined(props: {
  label: string;
  hint: ReactNode;
  problem: string | undefined;
  hideLabel: boolean | undefined;
}): FieldProps {
  const { label, hint, problem, hideLabel } = props;
  return { label, hint, problem, hideLabel: hideLabel ?? false };
}
