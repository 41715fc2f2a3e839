import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, dataOf } from "./client";
import { keys } from "./keys";
import type { TokenRequest, UserChange, UserRequest } from "./types";

/** Everybody who may own jobs, by name (admins only). */
export function useUsers() {
  return useQuery({
    queryKey: keys.users,
    queryFn: async ({ signal }) => (await dataOf(api.GET("/api/users", { signal }))).items,
  });
}

/** Makes a user. */
export function useAddUser() {
  return useUserChange((body: UserRequest) => dataOf(api.POST("/api/users", { body })));
}

/** Gives a user another role or password, or lets them in no more, or again. */
export function useChangeUser() {
  return useUserChange(({ name, body }: { name: string; body: UserChange }) =>
    dataOf(api.PATCH("/api/users/{name}", { params: { path: { name } }, body })),
  );
}

/** Tokens that hold: one's own, or (admins) everybody's. */
export function useTokens() {
  return useQuery({
    queryKey: keys.tokens,
    queryFn: async ({ signal }) => (await dataOf(api.GET("/api/tokens", { signal }))).items,
  });
}

/** Makes a token; its secret is in the answer, this once. */
export function useAddToken() {
  return useTokenChange((body: TokenRequest) => dataOf(api.POST("/api/tokens", { body })));
}

/** Ends a token at once. */
export function useRevokeToken() {
  return useTokenChange((tokenId: string) =>
    dataOf(api.DELETE("/api/tokens/{tokenId}", { params: { path: { tokenId } } })),
  );
}

function useUserChange<In, Out>(mutationFn: (given: In) => Promise<Out>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn,
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.users }),
  });
}

function useTokenChange<In, Out>(mutationFn: (given: In) => Promise<Out>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn,
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.tokens }),
  });
}
