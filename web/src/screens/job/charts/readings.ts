import { type Counts, type GatePoint, type Reading, settled } from "../../../api";

export interface Point {
  /** Seconds since 1970, on the server's clock. */
  at: number;
  counts: Counts;
  gates: readonly GatePoint[];
}

const MOST_POINTS = 600;
const LEAST_S = 1;
const SMOOTH_S = 4;

export function pointOf({ at, counts, gates }: Reading): Point {
  return { at: seconds(at), counts, gates };
}

export function seconds(moment: string | null): number {
  return moment ? new Date(moment).getTime() / 1000 : 0;
}

/**
 * Adds a point: at least 1 s after the last, in order, up to a maximum. When there are too many,
 * older points are thinned out.
 */
export function withPoint(points: readonly Point[], point: Point): readonly Point[] {
  const last = points.at(-1);
  if (last && point.at < last.at) return points;
  const before = points.at(-2);
  const isClose = last && before && last.at - before.at < LEAST_S;
  const kept = isClose ? points.slice(0, -1) : points;
  const all = [...kept, point];
  return all.length > MOST_POINTS ? thinned(all) : all;
}

function thinned(points: readonly Point[]): readonly Point[] {
  const half = points.length >> 1;
  return points.filter((_, index) => index > half || index % 2 === 0);
}

/** Items per second by outcome: [times, done, not found, errors, other]. */
export function throughputOf(points: readonly Point[]): (number | null)[][] {
  const table: (number | null)[][] = [[], [], [], [], []];
  let from = 0;
  points.forEach((point, index) => {
    while (from < index - 1 && point.at - (points[from + 1]?.at ?? 0) >= SMOOTH_S) from += 1;
    const since = points[from];
    const span = since ? point.at - since.at : 0;
    const rate = (value: (counts: Counts) => number) =>
      since && span > 0 ? Math.max(0, value(point.counts) - value(since.counts)) / span : null;
    const rates = [
      rate((counts) => counts.done),
      rate((counts) => counts.notFound),
      rate((counts) => counts.error),
      rate((counts) => settled(counts) - counts.done - counts.notFound - counts.error),
    ];
    [point.at, ...rates].forEach((value, column) => {
      table[column]?.push(value);
    });
  });
  return table;
}

/** Names of the gates to draw: the job's own, and the ones in its points. */
export function gatesIn(points: readonly Point[], own: readonly string[] = []): string[] {
  const named = points.flatMap(({ gates }) => gates.map(({ name }) => name));
  return [...new Set([...named, ...own])].slice(0, 4);
}

/** One figure of each gate over time: [times, first gate, second gate, …]. */
export function figuresOf(
  points: readonly Point[],
  names: readonly string[],
  figure: (gate: GatePoint) => number | null,
): (number | null)[][] {
  const withGates = points.filter(({ gates }) => gates.length > 0);
  const lines = names.map((name) =>
    withGates.map(({ gates }) => {
      const gate = gates.find((each) => each.name === name);
      return gate ? figure(gate) : null;
    }),
  );
  return [withGates.map(({ at }) => at), ...lines];
}
