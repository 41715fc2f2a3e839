import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, dataOf, setCsrf } from "./client";
import { keys } from "./queries";
import type { Me, Role } from "./types";

const RANKS: readonly Role[] = ["viewer", "user", "admin"];

/** The user who is logged in, or null. */
export const meQuery = queryOptions({
  queryKey: keys.me,
  queryFn: async ({ signal }) => remembered((await dataOf(api.GET("/api/session", { signal }))).me),
  staleTime: Number.POSITIVE_INFINITY,
});

export const aboutQuery = queryOptions({
  queryKey: keys.about,
  queryFn: ({ signal }) => dataOf(api.GET("/api/about", { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});

/** The user who is logged in. Always set inside the frame. */
export function useMe(): Me | undefined {
  return useQuery(meQuery).data ?? undefined;
}

export function useAbout() {
  return useQuery(aboutQuery).data;
}

/** True if the role of the user includes this role. */
export function useMay(role: Role): boolean {
  const me = useMe();
  return me !== undefined && RANKS.indexOf(me.role) >= RANKS.indexOf(role);
}

/** A name with its password, or a token. */
export type Credentials = { name: string; password: string } | { token: string };

export function useLogin() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (body: Credentials) =>
      remembered(await dataOf(api.POST("/api/login", { body }))),
    onSuccess: (me) => {
      queries.clear();
      queries.setQueryData(keys.me, me);
    },
  });
}

/** Closes the session and loads a new page, so that no data stays and no request goes on. */
export function useLogout() {
  return useMutation({
    mutationFn: () => dataOf(api.POST("/api/logout")),
    onSettled: () => location.assign("/login"),
  });
}

function remembered<M extends Me | null>(me: M): M {
  setCsrf(me?.csrf ?? null);
  return me;
}
