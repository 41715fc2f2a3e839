import type { QueryClient, QueryKey } from "@tanstack/react-query";
import { type Item, isOpen, type Job, keys, type Page } from "../api";
import type { Counters, LiveMessage } from "./messages";
import { Throttle } from "./throttle";

const PERIOD_MS = 1_000;

/** Brings message into what is shown: counters as they are counters, the rest by reading it anew. */
export class CacheUpdater {
  #throttle = new Throttle(PERIOD_MS);
  #states = new Map<string, string>();
  /** How many errors each job has, as counters; and when its errors were last grouped. */
  #errors = new Map<string, number>();
  #grouped = new Map<string, number>();

  constructor(readonly queries: QueryClient) {}

  /** Take one piece of message in. */
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

  /** Read everything in sight anew: message may have been missed. */
  applyAll(): void {
    this.#throttle.clear();
    void this.queries.invalidateQueries({ refetchType: "active" }, { cancelRefetch: false });
  }

  close(): void {
    this.#throttle.clear();
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
    // A new job, or one in another state, may belong in a list or no longer belong there.
    if (isMoved) this.#refresh(keys.jobs);
  }

  #isNew({ jobId, state }: Counters): boolean {
    if (this.#states.has(jobId)) return true;
    const pages = this.queries.getQueriesData<Page<Job>>({ queryKey: keys.jobs });
    const listed = pages.flatMap(([, page]) => page?.items ?? []);
    return !listed.some((job) => job.id === jobId && job.state === state);
  }

  #event(jobId: string, kind: string): void {
    this.#refresh(keys.log(jobId));
    // What is finished changes only when a person has it changed, which is an event.
    this.#refresh(keys.items(jobId));
    // A decision mostly comes after the job is done, when its counters are no longer counters.
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
  }

  /** Pages whose rows are all finished are not read again: see `mayChange`. */
  #refreshOpen(jobId: string): void {
    const queryKey = keys.items(jobId);
    this.#throttle.run(`open ${JSON.stringify(queryKey)}`, () => {
      void this.queries.invalidateQueries(
        { queryKey, predicate: ({ queryKey: key, state }) => mayChange(key, state.data) },
        { cancelRefetch: false },
      );
    });
  }

  /** Errors are grouped again only when there are more or fewer of them. */
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

/** Whether a page of items may look otherwise now, though nobody touched what is finished. */
export function mayChange(queryKey: QueryKey, data: unknown): boolean {
  const page = data as Page<Item> | undefined;
  const filter = queryKey.find((part) => typeof part === "object" && part !== null) ?? {};
  // Under a filter or in another order, rows come into a page and leave it.
  if (Object.values(filter).some((value) => value !== undefined)) return true;
  if (!page?.items || page.next === null) return true;
  return page.items.some(isOpen);
}
