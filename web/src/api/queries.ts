import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { Problem } from "./problem";

const PASSING = [0, 502, 503, 504];

/**
 * What was fetched, and when it is fetched again: when the server says that it changed, or when it
 * is looked at anew. Nothing is polled.
 */
export function newQueries(onLoggedOut: () => void): QueryClient {
  const notice = (error: Error) => {
    if (error instanceof Problem && error.status === 401) onLoggedOut();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError: notice }),
    mutationCache: new MutationCache({ onError: notice }),
    defaultOptions: {
      // What is asked without a network fails at once and says so. It never waits to run later,
      // when the user has long gone on to something else.
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
