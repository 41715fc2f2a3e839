/** Icons on a 16 × 16 grid. They are decoration and hidden from screen readers. */
const PATHS = {
  check: "M3 8.5l3.5 3.5L13 4.5",
  cross: "M4 4l8 8M12 4l-8 8",
  none: "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11M4 12L12 4",
  skip: "M3 4l5 4-5 4zM12 4v8",
  question: "M5.5 6a2.5 2.5 0 1 1 3.6 2.200C8.4 8.6 8 9 8 10M8 12.800v.2",
  stop: "M4.5 4.5h7v7h-7z",
  circle: "M8 3a5 5 0 1 0 0 10a5 5 0 1 0 0-10",
  half: "M8 3a5 5 0 1 0 0 10zM8 3a5 5 0 0 1 0 10",
  play: "M5 3.5l7.5 4.5L5 12.5z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  arrowDown: "M8 3v10M4 9l4 4 4-4",
  arrowRight: "M3 8h10M9 4l4 4-4 4",
  arrowLeft: "M13 8H3M7 4L3 8l4 4",
  chevronDown: "M4 6l4 4 4-4",
  chevronUp: "M4 10l4-4 4 4",
  repeat: "M3 8a5 5 0 0 1 8.5-3.5L13 6M13 3v3h-3M13 8a5 5 0 0 1-8.5 3.5L3 10M3 13v-3h3",
  download: "M8 2.5v7.5M4.5 7L8 10.5 11.5 7M3 13.5h10",
  upload: "M8 10.5V3M4.5 6.5L8 3l3.5 3.5M3 13.5h10",
  plus: "M8 3v10M3 8h10",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9M10.5 10.5l3.5 3.5",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  menu: "M2.5 4h11M2.5 8h11M2.5 12h11",
  copy: "M5.5 5.5h8v8h-8zM3 10.5h-.5v-8h8V3",
  sun: "M8 5a3 3 0 1 0 0 6a3 3 0 1 0 0-6M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1",
  moon: "M13 9.5A5.5 5.5 0 1 1 6.5 3a4.5 4.5 0 0 0 6.5 6.5z",
  screen: "M2.5 3.5h11v7h-11zM6 13.5h4",
  keyboard: "M1.5 4.5h13v7h-13zM4 7h.01M6.5 7h.01M9 7h.01M11.5 7h.01M5 9.5h6",
  person: "M8 2.5a2.5 2.5 0 1 0 0 5a2.5 2.5 0 1 0 0-5M3 13.5a5 5 0 0 1 10 0",
  trash: "M3 4.5h10M6 4.5v-2h4v2M4.5 4.5l.5 9h6l.5-9",
  link: "M6.5 9.5l3-3M7 4.5l1.5-1.5a3 3 0 0 1 4.5 4.5L11.5 9M9 11.5L7.5 13A3 3 0 0 1 3 8.5L4.5 7",
  warn: "M8 2.5l6 11H2zM8 6.5v3.5M8 12v.2",
  jobs: "M2.5 4h11M2.5 8h11M2.5 12h7",
  clock: "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11M8 5v3l2 2",
  gate: "M3 2.5v11M13 2.5v11M3 5.5h10M3 9h10",
  worker: "M2.5 5.5h11v5h-11zM5 3v2.5M8 3v2.5M11 3v2.5M5 10.5V13M8 10.5V13M11 10.5V13",
  gear: "M8 5.5a2.5 2.5 0 1 0 0 5a2.5 2.5 0 1 0 0-5M8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.400l1.4 1.400M11.2 11.200l1.4 1.400M12.6 3.400l-1.4 1.400M4.8 11.200l-1.4 1.4",
  columns: "M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10",
  external: "M9 3h4v4M13 3L7.5 8.5M11 9.5V13H3V5h3.5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
