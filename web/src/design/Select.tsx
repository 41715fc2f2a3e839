import type { SelectHTMLAttributes } from "react";
import { defined, type FieldProps, Labelled } from "./Field";
import styles from "./Field.module.css";

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
