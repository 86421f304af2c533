import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";

import { request } from "./client";
import { sessionKeys } from "./sessions";
import type { GivenRight } from "./types";

export const peopleKeys = {
  all: ["people"] as const,
  people: (sessionId: string) => ["people", sessionId] as const,
  shares: (sessionId: string) => ["shares", sessionId] as const,
  joined: (code: string | null) => ["joined", code] as const,
};

/** Loads all people who have a right in a session, the owner first. */
export function usePeople(sessionId: string) {
  return useQuery({ ...peopleQuery(sessionId), select: ({ people }) => people });
}

/** Loads the open offer of a session, for its owner. */
export function useOpenOffer(sessionId: string) {
  return useQuery({ ...peopleQuery(sessionId), select: ({ offer }) => offer ?? null });
}

function peopleQuery(sessionId: string) {
  return queryOptions({
    queryKey: peopleKeys.people(sessionId),
    queryFn: ({ signal }) =>
      request("GET /api/sessions/{id}/people", { path: { id: sessionId }, signal }),
  });
}

/** Returns the names of the people who have a right in a session, by id. */
export function useNames(sessionId: string): ReadonlyMap<string, string> {
  const people = usePeople(sessionId).data;
  return useMemo(() => new Map(people?.map(({ id, name }) => [id, name])), [people]);
}

/** Gives a person, by id or name, a right that replaces their present one. */
export function useGrant(sessionId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ who, right }: { who: string; right: GivenRight }) => {
      const path = { id: sessionId, user: who };
      return request("PUT /api/sessions/{id}/people/{user}", { path, body: { right } });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: peopleKeys.people(sessionId) }),
  });
}

export function useRemovePerson(sessionId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (who: string) => {
      const path = { id: sessionId, user: who };
      return request("DELETE /api/sessions/{id}/people/{user}", { path });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: peopleKeys.people(sessionId) }),
  });
}

/** Loads the links of a session that are still valid. */
export function useShares(sessionId: string) {
  return useQuery({
    queryKey: peopleKeys.shares(sessionId),
    queryFn: async ({ signal }) => {
      const path = { id: sessionId };
      const answer = await request("GET /api/sessions/{id}/shares", { path, signal });
      return answer.shares;
    },
  });
}

export function useMakeShare(sessionId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { right: GivenRight; single_use: boolean }) => {
      const path = { id: sessionId };
      return request("POST /api/sessions/{id}/shares", { path, body });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: peopleKeys.shares(sessionId) }),
  });
}

export function useEndShare(sessionId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (share: string) =>
      request("DELETE /api/sessions/{id}/shares/{share}", { path: { id: sessionId, share } }),
    onSuccess: () => client.invalidateQueries({ queryKey: peopleKeys.shares(sessionId) }),
  });
}

/**
 * Joins a session with the shared link the page was opened with.
 *
 * This is a query because a query runs once per code however often React mounts its users.
 */
export function useJoin(code: string | null) {
  const client = useQueryClient();
  return useQuery({
    queryKey: peopleKeys.joined(code),
    enabled: code !== null,
    retry: false,
    staleTime: Infinity,
    gcTime: Infinity,
    refetchOnReconnect: false,
    queryFn: async () => {
      const session = await request("POST /api/shares/join", { body: { code: code ?? "" } });
      client.setQueryData(sessionKeys.one(session.id), session);
      return session;
    },
  });
}
