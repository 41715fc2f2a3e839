import type { ReactNode } from "react";
import { duration } from "./format";
import { useNow } from "./hooks";

const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** A time in the local zone, with UTC as tooltip. */
export function Time({ at }: { at: string | null | undefined }) {
  if (!at) return <span>–</span>;
  return (
    <time dateTime={at} title={utc(at)}>
      {LOCAL.format(new Date(at))}
    </time>
  );
}

/** Time since or until a moment, updated every second; the moment as tooltip. */
export function Ago({ at }: { at: string | null | undefined }) {
  const now = useNow();
  if (!at) return <span>–</span>;
  return <Moment at={at}>{agoInWords(new Date(at).getTime(), now)}</Moment>;
}

/** Age of a moment, updated every second; the moment as tooltip. */
export function Age({ at }: { at: string | null | undefined }) {
  const now = useNow();
  if (!at) return <span>–</span>;
  const seconds = Math.max(0, Math.round((now - new Date(at).getTime()) / 1000));
  return <Moment at={at}>{duration(seconds)}</Moment>;
}

function Moment({ at, children }: { at: string; children: ReactNode }) {
  return (
    <time dateTime={at} title={`${LOCAL.format(new Date(at))} · ${utc(at)}`}>
      {children}
    </time>
  );
}

/** "12 s ago", "just now", "now", "in 3 min". */
export function agoInWords(at: number, now: number): string {
  const seconds = (now - at) / 1000;
  if (Math.abs(seconds) < 2) return seconds < 0 ? "now" : "just now";
  const words = duration(Math.abs(Math.round(seconds)));
  return seconds > 0 ? `${words} ago` : `in ${words}`;
}

/** 2026-03-01 12:00:00 UTC */
export function utc(at: string): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
