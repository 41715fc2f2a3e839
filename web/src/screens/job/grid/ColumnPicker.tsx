import { useId, useRef, useState } from "react";
import { Button, Checkbox } from "../../../design";
import styles from "./ColumnPicker.module.css";

const GAP = 4;

export function ColumnPicker({
  columns,
  hidden,
  onToggle,
  onReset,
}: {
  columns: readonly { id: string; header: string }[];
  hidden: readonly string[];
  onToggle: (id: string) => void;
  onReset: () => void;
}) {
  const id = useId();
  const list = useRef<HTMLFieldSetElement>(null);
  const opener = useRef<HTMLSpanElement>(null);
  const [isOpen, setOpen] = useState(false);
  const open = () => {
    const at = opener.current?.getBoundingClientRect();
    if (!list.current || !at) return;
    list.current.showPopover();
    const { width } = list.current.getBoundingClientRect();
    list.current.style.top = `${at.bottom + GAP}px`;
    list.current.style.maxHeight = `${window.innerHeight - at.bottom - 2 * GAP}px`;
    list.current.style.left = `${Math.max(8, at.right - width)}px`;
  };
  return (
    <span ref={opener}>
      <Button
        icon="columns"
        aria-haspopup="true"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={open}
      >
        Columns
      </Button>
      <fieldset
        ref={list}
        id={id}
        popover="auto"
        className={styles.list}
        onToggle={(event) => setOpen(event.newState === "open")}
      >
        <legend className="unseen">Columns</legend>
        {columns.map((column) => (
          <Checkbox
            key={column.id}
            label={column.header}
            checked={!hidden.includes(column.id)}
            onChange={() => onToggle(column.id)}
          />
        ))}
        <Button variant="quiet" onClick={onReset}>
          Reset
        </Button>
      </fieldset>
    </span>
  );
}
