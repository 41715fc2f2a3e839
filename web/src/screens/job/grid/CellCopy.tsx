import { type MouseEvent, type ReactNode, useRef, useState } from "react";
import { CopyButton } from "../../../design";
import styles from "./CellCopy.module.css";

interface Place {
  text: string;
  top: number;
  left: number;
}

/** Copies the cell under the pointer. One button serves all cells, so that rows stay light. */
export function CellCopy({ children }: { children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState<Place | null>(null);
  const over = ({ target }: MouseEvent) => {
    if (!(target instanceof HTMLElement) || !box.current) return;
    if (target.closest(`.${styles.button}`)) return;
    const cell = target.closest("[role=gridcell]");
    const text = cell?.querySelector<HTMLElement>("[data-copy]")?.dataset.copy;
    if (!cell || !text) {
      setPlace(null);
      return;
    }
    const inside = cell.getBoundingClientRect();
    const row = cell.closest("[role=row]")?.getBoundingClientRect() ?? inside;
    const outside = box.current.getBoundingClientRect();
    setPlace({
      text,
      top: row.top - outside.top + row.height / 2,
      left: Math.min(inside.right, outside.right) - outside.left,
    });
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the key `c` copies without a mouse
    // biome-ignore lint/a11y/useKeyWithMouseEvents: the key `c` copies without a mouse
    <div
      ref={box}
      className={styles.box}
      onMouseOver={over}
      onMouseLeave={() => setPlace(null)}
      onScrollCapture={() => setPlace(null)}
    >
      {children}
      {place && (
        <span className={styles.button} style={{ top: place.top, left: place.left }}>
          <CopyButton key={place.text} text={place.text} label="Copy cell" />
        </span>
      )}
    </div>
  );
}
