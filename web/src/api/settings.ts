import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { request } from "./client";
import type {
  ChangeUser,
  CreateToken,
  CreateUser,
  MadeToken,
  PutSecret,
  Secrets,
  Settings,
  SignInLink,
  Tokens,
  User,
  UsersPage,
} from "./types";

export const settingsKeys = {
  tokens: ["tokens"] as const,
  secrets: ["secrets"] as const,
  users: ["users"] as const,
  settings: ["settings"] as const,
};

export function useSettings() {
  return useQuery({
    queryKey: settingsKeys.settings,
    queryFn: ({ signal }) => request<Settings>("GET", "/api/settings", undefined, signal),
  });
}

export function useChangeSettings() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (settings: Settings) => request<Settings>("PATCH", "/api/settings", settings),
    onSuccess: (settings) => client.setQueryData(settingsKeys.settings, settings),
  });
}

export function useTokens() {
  return useQuery({
    queryKey: settingsKeys.tokens,
    queryFn: async ({ signal }) => {
      const answer = await request<Tokens>("GET", "/api/tokens", undefined, signal);
      return answer.tokens;
    },
  });
}

export function useMakeToken() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (token: CreateToken) => request<MadeToken>("POST", "/api/tokens", token),
    onSuccess: () => client.invalidateQueries({ queryKey: settingsKeys.tokens }),
  });
}

export function useRevokeToken() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => request<void>("DELETE", `/api/tokens/${id}`),
    onSuccess: () => client.invalidateQueries({ queryKey: settingsKeys.tokens }),
  });
}

export function useSecrets() {
  return useQuery({
    queryKey: settingsKeys.secrets,
    queryFn: async ({ signal }) => {
      const answer = await request<Secrets>("GET", "/api/secrets", undefined, signal);
      return answer.secrets;
    },
  });
}

export function useStoreSecret() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ name, ...secret }: { name: string } & PutSecret) =>
      request<void>("PUT", `/api/secrets/${encodeURIComponent(name)}`, secret),
    // What was typed is not kept once it is stored.
    gcTime: 0,
    onSuccess: () => client.invalidateQueries({ queryKey: settingsKeys.secrets }),
  });
}

export function useRemoveSecret() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (name: string) =>
      request<void>("DELETE", `/api/secrets/${encodeURIComponent(name)}`),
    onSuccess: () => client.invalidateQueries({ queryKey: settingsKeys.secrets }),
  });
}

export function useUsers() {
  return useInfiniteQuery({
    queryKey: settingsKeys.users,
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => {
      const after = pageParam === "" ? "" : `?after=${encodeURIComponent(pageParam)}`;
      return request<UsersPage>("GET", `/api/users${after}`, undefined, signal);
    },
    getNextPageParam: (page) => page.next,
  });
}

export function useAddUser() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (name: string) => {
      const body: CreateUser = { name };
      const user = await request<User>("POST", "/api/users", body);
      return { user, link: await newLink(user.id) };
    },
    onSettled: () => client.invalidateQueries({ queryKey: settingsKeys.users }),
  });
}

export function useChangeUser() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, ...change }: { id: string } & ChangeUser) =>
      request<User>("PATCH", `/api/users/${id}`, change),
    onSuccess: () => client.invalidateQueries({ queryKey: settingsKeys.users }),
  });
}

export function useNewLink() {
  return useMutation({
    mutationFn: async (user: User) => ({ user, link: await newLink(user.id) }),
  });
}

function newLink(userId: string): Promise<SignInLink> {
  return request<SignInLink>("POST", `/api/users/${userId}/sign-in-links`);
}
