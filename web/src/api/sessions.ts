import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";

import { request } from "./client";
import type {
  ChangeMessage,
  ChangeSession,
  Message,
  SendMessage,
  Session,
  SessionsPage,
} from "./types";

export const sessionKeys = {
  list: ["sessions"] as const,
  one: (id: string) => ["session", id] as const,
};

const PAGE_SIZE = 30;

/** All sessions, newest first. What changes comes over the bus. */
export function useSessions() {
  return useInfiniteQuery({
    queryKey: sessionKeys.list,
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => {
      const before = pageParam === "" ? "" : `&before=${encodeURIComponent(pageParam)}`;
      const path = `/api/sessions?limit=${PAGE_SIZE}${before}`;
      return request<SessionsPage>("GET", path, undefined, signal);
    },
    getNextPageParam: (page) => page.next,
  });
}

export function useSession(id: string) {
  return useQuery({
    queryKey: sessionKeys.one(id),
    queryFn: ({ signal }) =>
      request<Session>("GET", `/api/sessions/${encodeURIComponent(id)}`, undefined, signal),
  });
}

/** What a session begins with. */
export type StartSession = { content: string } & Pick<ChangeSession, "model" | "instructions">;

/**
 * Makes a session and sends it its first message.
 *
 * When the session was made but the message was refused, trying again sends the message to the
 * same session instead of leaving an empty one behind with every try.
 */
export function useStartSession() {
  const client = useQueryClient();
  const made = useRef<Session | null>(null);
  return useMutation({
    mutationFn: async ({ content, ...wanted }: StartSession): Promise<Session> => {
      if (made.current === null) {
        made.current = await request<Session>("POST", "/api/sessions", wanted);
      } else if (Object.keys(wanted).length > 0) {
        // What was chosen since the first try counts.
        const change: ChangeSession = wanted;
        made.current = await request<Session>("PATCH", `/api/sessions/${made.current.id}`, change);
      }
      await postMessage(made.current.id, { content, delivery: "queue" });
      const session = made.current;
      made.current = null;
      return session;
    },
    onSuccess: (session) => {
      client.setQueryData(sessionKeys.one(session.id), session);
      return client.invalidateQueries({ queryKey: sessionKeys.one(session.id) });
    },
    onSettled: () => client.invalidateQueries({ queryKey: sessionKeys.list }),
  });
}

export function useSendMessage(id: string) {
  return useMutation({
    mutationFn: (message: SendMessage) => postMessage(id, message),
  });
}

function postMessage(id: string, body: SendMessage): Promise<Message> {
  return request<Message>("POST", `/api/sessions/${id}/messages`, body);
}

/** Changes a message that waits. What came of it is in the log. */
export function useChangeMessage(id: string, message: string) {
  return useMutation({
    mutationFn: (change: ChangeMessage) =>
      request<void>("PATCH", `/api/sessions/${id}/queue/${message}`, change),
  });
}

export function useRemoveMessage(id: string, message: string) {
  return useMutation({
    mutationFn: () => request<void>("DELETE", `/api/sessions/${id}/queue/${message}`),
  });
}

/** Gives a session another title, model or instructions, or has its agent ask about other things. */
export function useChangeSession(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: ChangeSession) =>
      request<Session>("PATCH", `/api/sessions/${id}`, change),
    onSuccess: (session) => {
      client.setQueryData(sessionKeys.one(id), session);
      return client.invalidateQueries({ queryKey: sessionKeys.list });
    },
  });
}

export function useStopTurn(id: string) {
  return useMutation({ mutationFn: () => request<void>("POST", `/api/sessions/${id}/stop`) });
}

export function useEndSession(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => request<void>("DELETE", `/api/sessions/${id}`),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: sessionKeys.one(id) }),
        client.invalidateQueries({ queryKey: sessionKeys.list }),
      ]),
  });
}
