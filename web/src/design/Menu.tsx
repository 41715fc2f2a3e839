import { type KeyboardEvent, useId, useRef, useState } from "react";
import { Button, type ButtonProps } from "./Button";
import { classes } from "./format";
import { Icon, type IconName } from "./Icon";
import styles from "./Menu.module.css";

export interface MenuItem {
  label: string;
  icon?: IconName;
  danger?: boolean;
  onSelect: () => void;
}

/** A button that opens a menu: arrows move, Enter selects, Escape closes. */
export function Menu({
  label,
  items,
  button,
}: {
  /** Name of the menu for screen readers: "Actions for job 7". */
  label: string;
  items: readonly MenuItem[];
  button?: ButtonProps;
}) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);

  const open = () => {
    const menu = list.current;
    const at = opener.current?.getBoundingClientRect();
    if (!menu || !at) return;
    menu.showPopover();
    const { width, height } = menu.getBoundingClientRect();
    const below = at.bottom + 4 + height < window.innerHeight;
    menu.style.left = `${Math.max(8, Math.min(at.right - width, window.innerWidth - width - 8))}px`;
    menu.style.top = `${below ? at.bottom + 4 : Math.max(8, at.top - 4 - height)}px`;
    menu.querySelector<HTMLElement>("[role=menuitem]")?.focus();
  };
  const close = () => list.current?.hidePopover();
  const move = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !list.current) return;
    event.preventDefault();
    const all = [...list.current.querySelectorAll<HTMLElement>("[role=menuitem]")];
    const at = all.indexOf(document.activeElement as HTMLElement);
    all[(at + step + all.length) % all.length]?.focus();
  };

  return (
    <div ref={opener} className={styles.menu}>
      <Button
        variant="quiet"
        icon="more"
        {...button}
        aria-label={button?.children ? button["aria-label"] : label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={id}
        disabled={button?.disabled || items.length === 0}
        onClick={(event) => {
          event.stopPropagation();
          open();
        }}
      />
      <div
        ref={list}
        id={id}
        popover="auto"
        role="menu"
        aria-label={label}
        tabIndex={-1}
        className={styles.list}
        onKeyDown={move}
        onToggle={(event) => setOpen(event.newState === "open")}
      >
        {items.map((item) => (
          <button
            key={item.label}
            type="button"
            role="menuitem"
            tabIndex={-1}
            className={classes(styles.item, item.danger && styles.danger)}
            onClick={(event) => {
              event.stopPropagation();
              close();
              item.onSelect();
            }}
          >
            {item.icon ? <Icon name={item.icon} /> : <span className={styles.gap} />}
            {item.label}
          </button>
        ))}
      </div>
    </div>
  );
}
