import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { Problem } from "./problem";

const PASSING = [0, 502, 503, 504];

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
          failures < 2 && error instanceof Problem && PASSING.includes(error.status),
      },
    },
  });
}
