import { type DragEvent, useId, useState } from "react";
import { READ_ENDINGS } from "../../api";
import { classes, Icon } from "../../design";
import styles from "./DropZone.module.css";

/** Accepts dropped files; a click or Enter opens the file dialog. */
export function DropZone({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const id = useId();
  const [isOver, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    if (event.dataTransfer.files.length > 0) onFiles([...event.dataTransfer.files]);
  };
  return (
    <label
      htmlFor={id}
      className={classes(styles.zone, isOver && styles.over)}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Icon name="upload" size={24} />
      <span>
        <strong>Drop a file here</strong>, or choose one
      </span>
      <span className={styles.kinds}>{READ_ENDINGS.join(", ")}, or images (also as a zip)</span>
      <input
        id={id}
        type="file"
        multiple
        aria-label="Choose a file"
        className="unseen"
        onChange={(event) => {
          const { files } = event.target;
          if (files && files.length > 0) onFiles([...files]);
        }}
      />
    </label>
  );
}
