import { Button, Icon } from "../../design";
import styles from "./EncodingNotice.module.css";
import type { Reading } from "./model";
import { ENCODINGS } from "./settings";

/** Warns that a file was read in the wrong encoding, and fixes it with one click. */
export function EncodingNotice({
  fits,
  read,
  onRead,
}: {
  /** An encoding that fits; null if unknown. */
  fits: string | null;
  read: Reading;
  onRead: (read: Reading) => void;
}) {
  const name = ENCODINGS.find(({ value }) => value === fits)?.label ?? fits;
  return (
    <div role="alert" className={styles.notice}>
      <p>
        <Icon name="warn" />{" "}
        <span>
          <strong>This file is not in UTF-8.</strong>{" "}
          {fits === null
            ? "Choose its encoding under “Import settings”."
            : "Accented letters look wrong below, and their rows would become errors."}
        </span>
      </p>
      <div className={styles.buttons}>
        {fits !== null && (
          <Button variant="primary" onClick={() => onRead({ ...read, encoding: fits })}>
            Read as {name}
          </Button>
        )}
        <Button onClick={() => onRead({ ...read, encoding: "utf-8" })}>Keep UTF-8</Button>
      </div>
    </div>
  );
}
