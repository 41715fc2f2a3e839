import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { Problem } from "./problem";
import type { StreamPlace } from "./types";

/**
 * Query keys, from general to specific, so that one prefix invalidates everything below it. Data of
 * a job is under ["job", id]; lists across jobs are under their own noun.
 */
export const keys = {
  me: ["me"],
  about: ["about"],
  health: ["health"],
  handlers: ["handlers"],
  jobs: ["jobs"],
  jobList: (filter: object) => ["jobs", filter],
  job: (id: string) => ["job", id],
  items: (id: string) => ["job", id, "items"],
  itemList: (id: string, filter: object) => ["job", id, "items", filter],
  errors: (id: string) => ["job", id, "errors"],
  exports: (id: string) => ["job", id, "exports"],
  gates: (id: string) => ["job", id, "gates"],
  history: (id: string) => ["job", id, "history"],
  log: (id: string) => ["job", id, "log"],
  item: (id: string) => ["item", id],
  why: (id: string) => ["item", id, "why"],
  pending: ["pending"],
  pendingList: (filter: object) => ["pending", filter],
  deadLetters: ["dead-letters"],
  deadLetterList: (filter: object) => ["dead-letters", filter],
  mirrors: ["mirrors"],
  mirror: (id: string) => ["mirrors", id],
  passes: (id: string) => ["mirrors", id, "passes"],
  pass: (id: string) => ["mirrors", "pass", id],
  stream: ({ mirrorId, streamId }: StreamPlace) => ["mirrors", mirrorId, "streams", streamId],
  passReports: ["pass-reports"],
  passReport: (id: string) => ["pass-reports", id],
  reviews: ["reviews"],
  reviewList: (filter: object) => ["reviews", filter],
  providers: ["providers"],
  workers: ["workers"],
  system: ["system"],
  users: ["users"],
  tokens: ["tokens"],
  allEvents: ["log"],
} as const;

const TEMPORARY = [0, 502, 503, 504];

/**
 * The query client. Queries are fetched again when the server reports a change, or when a screen
 * opens. Nothing is polled by default.
 */
export function newQueries(onLoggedOut: () => void): QueryClient {
  const notice = (error: Error) => {
    if (error instanceof Problem && error.status === 401) onLoggedOut();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError: notice }),
    mutationCache: new MutationCache({ onError: notice }),
    defaultOptions: {
      // A request without a network fails at once. It never waits to run later, when the user has
      // moved on to something else.
      mutations: { networkMode: "always" },
      queries: {
        networkMode: "always",
        staleTime: 5_000,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        retry: (failures, error) =>
          failures < 2 && error instanceof Problem && TEMPORARY.includes(error.status),
      },
    },
  });
}
