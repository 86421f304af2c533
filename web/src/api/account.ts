import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { ApiError, isStatus, request } from "./client";
import type { User } from "./types";

export const accountKeys = {
  me: ["me"] as const,
  arrival: (code: string | null) => ["arrival", code] as const,
};

export const limitKeys = { mine: ["limits"] as const };

export const usageKeys = { mine: ["usage"] as const };

/** Marks requests whose 401 is about a used code and says nothing about the cookie. */
export const ABOUT_A_CODE = { aboutACode: true };

interface SignIn {
  code: string;
  /** Signs in although the browser is signed in as another user. */
  replace?: boolean;
}

async function signIn({ code, replace = false }: SignIn): Promise<null> {
  await request("POST /api/sign-in", { body: { code, replace } });
  return null;
}

/** The names of the user who is signed in, and of the user whom a link is for. */
export interface OtherUser {
  current: string;
  next: string;
}

/** Returns the names if a sign-in was refused because somebody else is signed in. */
export function otherUser(error: unknown): OtherUser | null {
  if (!(error instanceof ApiError) || error.code !== "other_user") return null;
  const details = error.details as { current?: unknown; new?: unknown } | null | undefined;
  const current = details?.current;
  const next = details?.new;
  return typeof current === "string" && typeof next === "string" ? { current, next } : null;
}

/** Loads the user who is signed in, or `null` if there is none. */
export function useMe({ enabled }: { enabled: boolean }) {
  return useQuery({
    queryKey: accountKeys.me,
    enabled,
    staleTime: Infinity,
    queryFn: async ({ signal }): Promise<User | null> => {
      try {
        return await request("GET /api/me", { signal });
      } catch (error) {
        if (isStatus(error, 401)) return null;
        throw error;
      }
    },
  });
}

/**
 * Signs in with the code the page was opened with.
 *
 * This is a query although it changes something: a code is valid once, and a query runs once per
 * key however often React mounts its users.
 */
export function useArrival(code: string | null) {
  return useQuery({
    queryKey: accountKeys.arrival(code),
    enabled: code !== null,
    retry: false,
    staleTime: Infinity,
    gcTime: Infinity,
    refetchOnReconnect: false,
    queryFn: () => signIn({ code: code ?? "" }),
    meta: ABOUT_A_CODE,
  });
}

/** Loads the limits of the user, and their use. */
export function useLimits() {
  return useQuery({
    queryKey: limitKeys.mine,
    queryFn: ({ signal }) => request("GET /api/me/limits", { signal }),
  });
}

/** Loads the usage of models in all sessions of the user. */
export function useUsage({ enabled }: { enabled: boolean }) {
  return useQuery({
    queryKey: usageKeys.mine,
    enabled,
    queryFn: ({ signal }) => request("GET /api/me/usage", { signal }),
  });
}

export function useSignIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: signIn,
    meta: ABOUT_A_CODE,
    onSuccess: () => client.invalidateQueries({ queryKey: accountKeys.me }),
  });
}

export function useSignOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => request("POST /api/sign-out"),
    onSuccess: () => {
      client.setQueryData(accountKeys.me, null);
      client.removeQueries({ predicate: (query) => query.queryKey[0] !== accountKeys.me[0] });
    },
  });
}
