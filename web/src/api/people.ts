import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";

import { request } from "./client";
import { sessionKeys } from "./sessions";
import type {
  GivenRight,
  GrantRight,
  JoinSession,
  MadeShare,
  People,
  Person,
  Session,
  ShareSession,
  Shares,
} from "./types";

export const peopleKeys = {
  people: (sessionId: string) => ["people", sessionId] as const,
  shares: (sessionId: string) => ["shares", sessionId] as const,
  joined: (code: string | null) => ["joined", code] as const,
};

/** Everybody who has a right in a session, the owner first. */
export function usePeople(sessionId: string) {
  return useQuery({
    queryKey: peopleKeys.people(sessionId),
    queryFn: async ({ signal }) => {
      const path = `/api/sessions/${sessionId}/people`;
      const answer = await request<People>("GET", path, undefined, signal);
      return answer.people;
    },
  });
}

/** The names of those who have a right in a session, by id. */
export function useNames(sessionId: string): ReadonlyMap<string, string> {
  const people = usePeople(sessionId).data;
  return useMemo(() => new Map(people?.map(({ id, name }) => [id, name])), [people]);
}

function personPath(sessionId: string, who: string): string {
  return `/api/sessions/${sessionId}/people/${encodeURIComponent(who)}`;
}

/** Gives somebody, by id or name, a right instead of the one they have. */
export function useGrant(sessionId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ who, right }: { who: string; right: GivenRight }) => {
      const body: GrantRight = { right };
      return request<Person>("PUT", personPath(sessionId, who), body);
    },
    onSuccess: () => client.invalidateQueries({ queryKey: peopleKeys.people(sessionId) }),
  });
}

export function useRemovePerson(sessionId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (who: string) => request<void>("DELETE", personPath(sessionId, who)),
    onSuccess: () => client.invalidateQueries({ queryKey: peopleKeys.people(sessionId) }),
  });
}

/** The links of a session that are still good. */
export function useShares(sessionId: string) {
  return useQuery({
    queryKey: peopleKeys.shares(sessionId),
    queryFn: async ({ signal }) => {
      const path = `/api/sessions/${sessionId}/shares`;
      const answer = await request<Shares>("GET", path, undefined, signal);
      return answer.shares;
    },
  });
}

export function useMakeShare(sessionId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (right: GivenRight) => {
      const body: ShareSession = { right };
      return request<MadeShare>("POST", `/api/sessions/${sessionId}/shares`, body);
    },
    onSuccess: () => client.invalidateQueries({ queryKey: peopleKeys.shares(sessionId) }),
  });
}

export function useEndShare(sessionId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (share: string) =>
      request<void>("DELETE", `/api/sessions/${sessionId}/shares/${share}`),
    onSuccess: () => client.invalidateQueries({ queryKey: peopleKeys.shares(sessionId) }),
  });
}

/**
 * Follows the link the page was opened with.
 *
 * A query, since it runs once per code however often React mounts what asks for it.
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
      const body: JoinSession = { code: code ?? "" };
      const session = await request<Session>("POST", "/api/shares/join", body);
      client.setQueryData(sessionKeys.one(session.id), session);
      return session;
    },
  });
}
