import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { request } from "./client";
import type { ChangeUser, CreateToken, PutSecret, Settings, SignInLink, User } from "./types";

export const settingsKeys = {
  tokens: ["tokens"] as const,
  secrets: ["secrets"] as const,
  users: ["users"] as const,
  settings: ["settings"] as const,
};

export function useSettings() {
  return useQuery({
    queryKey: settingsKeys.settings,
    queryFn: ({ signal }) => request("GET /api/settings", { signal }),
  });
}

export function useChangeSettings() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Settings) => request("PATCH /api/settings", { body }),
    onSuccess: (settings) => client.setQueryData(settingsKeys.settings, settings),
  });
}

export function useTokens() {
  return useQuery({
    queryKey: settingsKeys.tokens,
    queryFn: async ({ signal }) => {
      const answer = await request("GET /api/tokens", { signal });
      return answer.tokens;
    },
  });
}

export function useMakeToken() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: CreateToken) => request("POST /api/tokens", { body }),
    onSuccess: () => client.invalidateQueries({ queryKey: settingsKeys.tokens }),
  });
}

export function useRevokeToken() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => request("DELETE /api/tokens/{id}", { path: { id } }),
    onSuccess: () => client.invalidateQueries({ queryKey: settingsKeys.tokens }),
  });
}

export function useSecrets() {
  return useQuery({
    queryKey: settingsKeys.secrets,
    queryFn: async ({ signal }) => {
      const answer = await request("GET /api/secrets", { signal });
      return answer.secrets;
    },
  });
}

export function useStoreSecret() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ name, ...body }: { name: string } & PutSecret) =>
      request("PUT /api/secrets/{name}", { path: { name }, body }),
    // The typed value is not kept once it is stored.
    gcTime: 0,
    onSuccess: () => client.invalidateQueries({ queryKey: settingsKeys.secrets }),
  });
}

export function useRemoveSecret() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => request("DELETE /api/secrets/{name}", { path: { name } }),
    onSuccess: () => client.invalidateQueries({ queryKey: settingsKeys.secrets }),
  });
}

export function useUsers() {
  return useInfiniteQuery({
    queryKey: settingsKeys.users,
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => {
      const query = { after: pageParam === "" ? undefined : pageParam };
      return request("GET /api/users", { query, signal });
    },
    getNextPageParam: (page) => page.next,
  });
}

export function useAddUser() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (name: string) => {
      const user = await request("POST /api/users", { body: { name } });
      return { user, link: await newLink(user.id) };
    },
    onSettled: () => client.invalidateQueries({ queryKey: settingsKeys.users }),
  });
}

export function useChangeUser() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, ...body }: { id: string } & ChangeUser) =>
      request("PATCH /api/users/{id}", { path: { id }, body }),
    onSuccess: () => client.invalidateQueries({ queryKey: settingsKeys.users }),
  });
}

export function useNewLink() {
  return useMutation({
    mutationFn: async (user: User) => ({ user, link: await newLink(user.id) }),
  });
}

function newLink(userId: string): Promise<SignInLink> {
  return request("POST /api/users/{id}/sign-in-links", { path: { id: userId } });
}
