import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";

import { request } from "./client";
import { networkKey } from "./network";
import type {
  ChangeMessage,
  ChangeSession,
  ComputerKind,
  Effort,
  Message,
  SendMessage,
  Session,
} from "./types";

export const sessionKeys = {
  list: ["sessions"] as const,
  one: (id: string) => ["session", id] as const,
};

const PAGE_SIZE = 30;

/** Loads all sessions, newest first. Changes arrive over the bus. */
export function useSessions({ enabled = true } = {}) {
  return useInfiniteQuery({
    queryKey: sessionKeys.list,
    enabled,
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: PAGE_SIZE, before: pageParam === "" ? undefined : pageParam };
      return request("GET /api/sessions", { query, signal });
    },
    getNextPageParam: (page) => page.next,
  });
}

export function useSession(id: string, { enabled = true } = {}) {
  return useQuery({
    enabled,
    queryKey: sessionKeys.one(id),
    queryFn: ({ signal }) => request("GET /api/sessions/{id}", { path: { id }, signal }),
  });
}

/** The settings and first message of a new session. */
export type StartSession = {
  content: string;
  /** Uploads the files of the message to the session. Returns their ids. */
  upload: (sessionId: string) => Promise<string[]>;
  computer: ComputerKind;
  effort?: Effort;
} & Pick<ChangeSession, "model" | "instructions">;

/**
 * Creates a session and sends its first message.
 *
 * If the session was created but the message was refused, another attempt sends the message to the
 * same session, instead of leaving an empty session behind.
 */
export function useStartSession() {
  const client = useQueryClient();
  const made = useRef<Session | null>(null);
  return useMutation({
    mutationFn: async ({ content, upload, computer, ...wanted }: StartSession): Promise<Session> => {
      if (made.current !== null && made.current.computer !== computer) {
        // A session keeps its kind of computer, so this one is of no use any more.
        const path = { id: made.current.id };
        made.current = null;
        await request("DELETE /api/sessions/{id}", { path });
      }
      if (made.current === null) {
        made.current = await request("POST /api/sessions", { body: { computer, ...wanted } });
      } else if (Object.keys(wanted).length > 0) {
        // Choices made since the first attempt count.
        const path = { id: made.current.id };
        made.current = await request("PATCH /api/sessions/{id}", { path, body: wanted });
      }
      const attachments = await upload(made.current.id);
      await postMessage(made.current.id, { content, attachments, delivery: "queue" });
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
  return request("POST /api/sessions/{id}/messages", { path: { id }, body });
}

/** Changes a waiting message. The result arrives in the log. */
export function useChangeMessage(id: string, message: string) {
  return useMutation({
    mutationFn: (body: ChangeMessage) =>
      request("PATCH /api/sessions/{id}/queue/{message}", { path: { id, message }, body }),
  });
}

export function useRemoveMessage(id: string, message: string) {
  return useMutation({
    mutationFn: () =>
      request("DELETE /api/sessions/{id}/queue/{message}", { path: { id, message } }),
  });
}

/** Removes all waiting messages that are held. */
export function useClearHeld(id: string) {
  return useMutation({
    mutationFn: () => request("DELETE /api/sessions/{id}/queue", { path: { id } }),
  });
}

/** Changes the title, model, effort, instructions or approval rules of a session. */
export function useChangeSession(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: ChangeSession) =>
      request("PATCH /api/sessions/{id}", { path: { id }, body }),
    onSuccess: (session) => {
      client.setQueryData(sessionKeys.one(id), session);
      void client.invalidateQueries({ queryKey: networkKey(id) });
      return client.invalidateQueries({ queryKey: sessionKeys.list });
    },
  });
}

export function useStopTurn(id: string) {
  return useMutation({ mutationFn: () => request("POST /api/sessions/{id}/stop", { path: { id } }) });
}

/** Deletes a session with its conversation and pictures. */
export function useDeleteSession(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () =>
      request("DELETE /api/sessions/{id}", { path: { id }, query: { forever: true } }),
    onSuccess: () => client.invalidateQueries({ queryKey: sessionKeys.list }),
  });
}

export function useEndSession(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => request("DELETE /api/sessions/{id}", { path: { id } }),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: sessionKeys.one(id) }),
        client.invalidateQueries({ queryKey: sessionKeys.list }),
      ]),
  });
}

/** Starts the desktop of a session, which looking at its files does. It is done when the desktop runs. */
export function useStartDesktop(sessionId: string) {
  return useMutation({
    mutationFn: () => request("GET /api/sessions/{id}/files", { path: { id: sessionId } }),
  });
}
