import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import styles from "./Field.module.css";
import { classes } from "./format";

export interface FieldProps {
  label: string;
  /** Explanation below the control. */
  hint?: ReactNode;
  /** What is wrong with the value; screen readers announce it at once. */
  problem?: string | undefined;
  /** Shows the label only to screen readers. */
  hideLabel?: boolean;
}

interface FieldIds {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

/** A label, a control, its hint and its problem. */
export function Labelled({
  label,
  hint,
  problem,
  hideLabel,
  children,
}: FieldProps & { children: (wiring: FieldIds) => ReactNode }) {
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

/** A checkbox; with `type="radio"`, a radio button. */
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

/** Drops undefined properties: an optional property may be missing, not undefined. */
export function defined(props: {
  label: string;
  hint: ReactNode;
  problem: string | undefined;
  hideLabel: boolean | undefined;
}): FieldProps {
  const { label, hint, problem, hideLabel } = props;
  return { label, hint, problem, hideLabel: hideLabel ?? false };
}

export interface Option {
  value: string;
  label: string;
}

export function Select({
  label,
  hint,
  problem,
  hideLabel,
  options,
  onChoose,
  ...select
}: FieldProps & {
  options: readonly Option[];
  onChoose: (value: string) => void;
} & Omit<SelectHTMLAttributes<HTMLSelectElement>, "onChange">) {
  return (
    <Labelled {...defined({ label, hint, problem, hideLabel })}>
      {(wiring) => (
        <select
          {...select}
          {...wiring}
          className={styles.input}
          onChange={(event) => onChoose(event.target.value)}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}
