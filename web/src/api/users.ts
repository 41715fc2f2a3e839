import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, dataOf } from "./client";
import { keys } from "./queries";
import type { TokenRequest, UserChange, UserRequest } from "./types";

/** All users, by name (admins only). */
export function useUsers() {
  return useQuery({
    queryKey: keys.users,
    queryFn: async ({ signal }) => (await dataOf(api.GET("/api/users", { signal }))).items,
  });
}

export function useAddUser() {
  return useUserChange((body: UserRequest) => dataOf(api.POST("/api/users", { body })));
}

/** Changes a user's role or password, or disables or enables the account. */
export function useChangeUser() {
  return useUserChange(({ name, body }: { name: string; body: UserChange }) =>
    dataOf(api.PATCH("/api/users/{name}", { params: { path: { name } }, body })),
  );
}

/** Valid tokens: one's own, or everyone's for admins. */
export function useTokens() {
  return useQuery({
    queryKey: keys.tokens,
    queryFn: async ({ signal }) => (await dataOf(api.GET("/api/tokens", { signal }))).items,
  });
}

/** Creates a token; the response contains its secret, once. */
export function useAddToken() {
  return useTokenChange((body: TokenRequest) => dataOf(api.POST("/api/tokens", { body })));
}

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
