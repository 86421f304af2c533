import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { request } from "./client";
import { askAgain } from "./queryClient";
import type { Terminal, TerminalSize } from "./types";

const keyOf = (sessionId: string) => ["sessions", sessionId, "terminals"] as const;

/**
 * Lists the terminals of a session. People open and end them at any time, so the list is fetched again now and then,
 * and whenever a connection to one ends.
 */
export function useTerminals(sessionId: string, isRunning: boolean) {
  return useQuery({
    queryKey: keyOf(sessionId),
    queryFn: ({ signal }) =>
      request("GET /api/sessions/{id}/terminals", { path: { id: sessionId }, signal }),
    select: (data) => data.terminals,
    enabled: isRunning,
    refetchInterval: 10_000,
  });
}

export function useRefetchTerminals(sessionId: string): () => void {
  const client = useQueryClient();
  return () => askAgain(client, keyOf(sessionId));
}

/** Opens a terminal. It is in the list at once, so that it can be shown before the list is fetched again. */
export function useOpenTerminal(sessionId: string) {
  const client = useQueryClient();
  const refetch = useRefetchTerminals(sessionId);
  return useMutation({
    mutationFn: (body: { size?: TerminalSize }) =>
      request("POST /api/sessions/{id}/terminals", { path: { id: sessionId }, body }),
    onSuccess: (opened) => {
      client.setQueryData<{ terminals: Terminal[] }>(keyOf(sessionId), (before) => {
        const others = before?.terminals.filter(({ number }) => number !== opened.number) ?? [];
        return { terminals: [...others, opened] };
      });
    },
    onSettled: refetch,
  });
}

export function useRenameTerminal(sessionId: string) {
  const refetch = useRefetchTerminals(sessionId);
  return useMutation({
    mutationFn: ({ number, name }: { number: number; name: string }) =>
      request("PATCH /api/sessions/{id}/terminals/{n}", {
        path: { id: sessionId, n: String(number) },
        body: { name },
      }),
    onSettled: refetch,
  });
}

export function useEndTerminal(sessionId: string) {
  const refetch = useRefetchTerminals(sessionId);
  return useMutation({
    mutationFn: (number: number) =>
      request("DELETE /api/sessions/{id}/terminals/{n}", {
        path: { id: sessionId, n: String(number) },
      }),
    onSettled: refetch,
  });
}
