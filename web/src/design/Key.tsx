import styles from "./Key.module.css";

const SIGNS: Record<string, string> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
};

export function Key({ children }: { children: string }) {
  const sign = SIGNS[children];
  return (
    <kbd className={styles.key} {...(sign ? { title: children } : {})}>
      {sign ?? children}
    </kbd>
  );
}
