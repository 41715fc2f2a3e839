import type { QueryClient, QueryKey } from "@tanstack/react-query";
import { type Item, isOpen, type Job, keys, type Mirror, type Page } from "../api";
import type { Counters, LiveMessage } from "./messages";

/** Runs an action at once, then at most once per period. */
export class Throttle {
  #waiting = new Map<string, ReturnType<typeof setTimeout>>();
  #again = new Map<string, () => void>();

  constructor(readonly periodMs: number) {}

  /** Runs now, or after the period since the last run of that name. */
  run(name: string, action: () => void): void {
    if (this.#waiting.has(name)) {
      this.#again.set(name, action);
      return;
    }
    action();
    this.#waiting.set(
      name,
      setTimeout(() => this.#over(name), this.periodMs),
    );
  }

  /** Cancels all waiting actions. */
  clear(): void {
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
    this.#again.clear();
  }

  #over(name: string): void {
    this.#waiting.delete(name);
    const action = this.#again.get(name);
    this.#again.delete(name);
    if (action) this.run(name, action);
  }
}

const PERIOD_MS = 1_000;
/** For what costs the server more. */
const LONG_PERIOD_MS = 10_000;

/** Applies live messages to the query cache: counters directly, the rest by reloading. */
export class CacheUpdater {
  #throttle = new Throttle(PERIOD_MS);
  #longThrottle = new Throttle(LONG_PERIOD_MS);
  #states = new Map<string, string>();
  /** Errors of each job by its last counters, and at its last grouping. */
  #errors = new Map<string, number>();
  #grouped = new Map<string, number>();

  constructor(readonly queries: QueryClient) {}

  /** Applies one message. */
  apply(message: LiveMessage): void {
    switch (message.kind) {
      case "counters":
        this.#counters(message.value);
        break;
      case "changed":
        this.#changed(message.value.jobId);
        break;
      case "event":
        this.#refresh(keys.allEvents);
        if (message.value.jobId) this.#event(message.value.jobId, message.value.kind);
        break;
      case "gate":
        this.#refresh(keys.providers);
        break;
      case "trouble":
        break;
    }
  }

  /** Reloads everything visible: messages may have been missed. */
  applyAll(): void {
    this.close();
    void this.queries.invalidateQueries({ refetchType: "active" }, { cancelRefetch: false });
  }

  close(): void {
    this.#throttle.clear();
    this.#longThrottle.clear();
  }

  #counters(counters: Counters): void {
    const { jobId, at: _, ...fresh } = counters;
    const isMoved = this.#states.get(jobId) !== counters.state && this.#isNew(counters);
    this.#states.set(jobId, counters.state);
    this.#errors.set(jobId, counters.counts.error);
    this.queries.setQueryData<Job>(keys.job(jobId), (job) => job && { ...job, ...fresh });
    this.queries.setQueriesData<Page<Job>>({ queryKey: keys.jobs }, (page) => {
      if (!page?.items.some((job) => job.id === jobId)) return page;
      const items = page.items.map((job) => (job.id === jobId ? { ...job, ...fresh } : job));
      return { ...page, items };
    });
    // A new job, or a job in a new state, may belong in a list or no longer belong there.
    if (!isMoved) return;
    this.#refresh(keys.jobs);
    // It may be a pass that has begun or ended.
    this.#refresh(keys.mirrors);
  }

  #isNew({ jobId, state }: Counters): boolean {
    if (this.#states.has(jobId)) return true;
    const pages = this.queries.getQueriesData<Page<Job>>({ queryKey: keys.jobs });
    const listed = pages.flatMap(([, page]) => page?.items ?? []);
    return !listed.some((job) => job.id === jobId && job.state === state);
  }

  #event(jobId: string, kind: string): void {
    this.#refresh(keys.log(jobId));
    // Finished items change only by a user's action, which is an event.
    this.#refresh(keys.items(jobId));
    // A retried pass may end between two looks of the server at its counters.
    if (this.#isNewestPass(jobId)) this.#pass(jobId);
    // Most decisions come after the job is done, when no counters are sent any more.
    if (kind !== "decided") return;
    this.#refresh(keys.job(jobId));
    this.#changed(jobId);
  }

  #changed(jobId: string): void {
    this.#refreshOpen(jobId);
    this.#refreshErrors(jobId);
    this.#refresh(keys.pending);
    this.#refresh(keys.deadLetters);
    this.#refresh(keys.reviews);
    this.#refresh(["item"]);
    if (this.#isNewestPass(jobId)) this.#pass(jobId);
  }

  /** True if a mirror that was loaded has this pass as its newest. */
  #isNewestPass(jobId: string): boolean {
    const loaded = this.queries.getQueriesData<Mirror[] | Mirror>({ queryKey: keys.mirrors });
    return loaded.flatMap(([, data]) => data ?? []).some(({ newest }) => newest?.id === jobId);
  }

  #pass(jobId: string): void {
    this.#refresh(keys.mirrors);
    const queryKey = keys.passReport(jobId);
    this.#longThrottle.run(jobId, () => {
      void this.queries.invalidateQueries({ queryKey }, { cancelRefetch: false });
    });
  }

  /** Does not reload pages whose rows are all finished: see `mayChange`. */
  #refreshOpen(jobId: string): void {
    const queryKey = keys.items(jobId);
    this.#throttle.run(`open ${JSON.stringify(queryKey)}`, () => {
      void this.queries.invalidateQueries(
        { queryKey, predicate: ({ queryKey: key, state }) => mayChange(key, state.data) },
        { cancelRefetch: false },
      );
    });
  }

  /** Reloads error groups only when the number of errors changes. */
  #refreshErrors(jobId: string): void {
    const errors = this.#errors.get(jobId);
    if (errors !== undefined && errors === this.#grouped.get(jobId)) return;
    if (errors !== undefined) this.#grouped.set(jobId, errors);
    this.#refresh(keys.errors(jobId));
  }

  #refresh(queryKey: QueryKey): void {
    this.#throttle.run(JSON.stringify(queryKey), () => {
      void this.queries.invalidateQueries({ queryKey }, { cancelRefetch: false });
    });
  }
}

/** True if a page of items may have changed without a user's action. */
export function mayChange(queryKey: QueryKey, data: unknown): boolean {
  const page = data as Page<Item> | undefined;
  const filter = queryKey.find((part) => typeof part === "object" && part !== null) ?? {};
  // With a filter or another order, rows enter and leave a page.
  if (Object.values(filter).some((value) => value !== undefined)) return true;
  if (!page?.items || page.next === null) return true;
  return page.items.some(isOpen);
}
