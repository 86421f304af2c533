import { queryOptions, useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { accountKeys } from "./account";
import { request } from "./client";
import type {
  ChangeUser,
  CreateToken,
  OwnNetwork,
  PutSecret,
  Settings,
  SignInLink,
  Token,
  User,
} from "./types";

/** The number of changes that are loaded at once. */
const HISTORY_SIZE = 20;

/** The pause between two looks at a token that waits for its first use. */
const FIRST_USE_MS = 3000;

export const settingsKeys = {
  tokens: ["tokens"] as const,
  secrets: ["secrets"] as const,
  users: ["users"] as const,
  settings: ["settings"] as const,
  signIns: ["sign-ins"] as const,
  history: ["history"] as const,
  network: ["own-network"] as const,
  audit: (action: string) => ["audit", action] as const,
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

/** Loads the hosts that all sessions of the user may contact. */
export function useOwnNetwork() {
  return useQuery({
    queryKey: settingsKeys.network,
    queryFn: ({ signal }) => request("GET /api/me/network", { signal }),
  });
}

export function useChangeOwnNetwork() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: OwnNetwork) => request("PUT /api/me/network", { body }),
    onSuccess: (network) => client.setQueryData(settingsKeys.network, network),
  });
}

const tokensQuery = queryOptions({
  queryKey: settingsKeys.tokens,
  queryFn: async ({ signal }) => {
    const answer = await request("GET /api/tokens", { signal });
    return answer.tokens;
  },
});

export function useTokens() {
  return useQuery(tokensQuery);
}

/** Follows a token until a program has used it. */
export function useFirstUse(tokenId: string) {
  const isUsed = (tokens: readonly Token[] | undefined) =>
    tokens?.some(({ id, last_used_at }) => id === tokenId && last_used_at !== null) ?? false;
  return useQuery({
    ...tokensQuery,
    select: isUsed,
    refetchInterval: ({ state }) => (isUsed(state.data) ? false : FIRST_USE_MS),
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

/** Makes a sign-in link for a new user, or resets the sign-in of another one. */
export function useNewLink() {
  return useMutation({
    mutationFn: async ({ user, reset }: { user: User; reset: boolean }) => ({
      user,
      link: await newLink(user.id, reset),
    }),
  });
}

function newLink(userId: string, reset = false): Promise<SignInLink> {
  const path = { id: userId };
  return request("POST /api/users/{id}/sign-in-links", { path, body: { reset } });
}

/** Loads the browsers in which the user is signed in, newest first. */
export function useSignIns() {
  return useQuery({
    queryKey: settingsKeys.signIns,
    queryFn: async ({ signal }) => {
      const answer = await request("GET /api/sign-ins", { signal });
      return answer.sign_ins;
    },
  });
}

export function useEndSignIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => request("DELETE /api/sign-ins/{id}", { path: { id } }),
    onSettled: () => client.invalidateQueries({ queryKey: settingsKeys.signIns }),
  });
}

/** Signs the user out everywhere, here too. */
export function useSignOutEverywhere() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => request("DELETE /api/sign-ins"),
    onSuccess: () => client.setQueryData(accountKeys.me, null),
  });
}

/** Loads what the user changed, and what others changed about their account and rights, newest first. */
export function useHistory() {
  return useInfiniteQuery({
    queryKey: settingsKeys.history,
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: HISTORY_SIZE, before: pageParam === "" ? undefined : pageParam };
      return request("GET /api/me/audit", { query, signal });
    },
    getNextPageParam: (page) => page.next,
  });
}

/** Loads what anybody changed, newest first. `action` is an action, a subject, or empty for all. */
export function useAudit(action: string) {
  return useInfiniteQuery({
    queryKey: settingsKeys.audit(action),
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => {
      const query = {
        limit: HISTORY_SIZE,
        before: pageParam === "" ? undefined : pageParam,
        action: action === "" ? undefined : action,
      };
      return request("GET /api/audit", { query, signal });
    },
    getNextPageParam: (page) => page.next,
  });
}
