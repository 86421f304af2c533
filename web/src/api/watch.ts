import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { ApiError, isCode, request, requestRaw } from "./client";

/** The time between two looks at who watches, and whether it has started. */
const LOOK_EVERY_MS = 3000;
/** The reasons for silence that another attempt does not change. */
const FINAL = new Set(["no_sound_card", "sound_failed"]);

const watchKeys = {
  links: (sessionId: string) => ["watch-links", sessionId] as const,
  watch: (token: string) => ["watch", token] as const,
};

/** Follows what a watch link leads to. A link that is not valid never becomes so. */
export function useWatch(token: string) {
  return useQuery({
    queryKey: watchKeys.watch(token),
    queryFn: ({ signal }) => request("GET /api/watch/{token}", { path: { token }, signal }),
    retry: false,
    refetchInterval: ({ state }) => (isCode(state.error, "no_watch_link") ? false : LOOK_EVERY_MS),
    refetchIntervalInBackground: true,
  });
}

/** Returns the reason why nothing can be heard by a watch link, or `null` if it may work soon. */
export async function whyNoWatchSound(token: string): Promise<string | null> {
  try {
    await requestRaw(`/api/watch/${encodeURIComponent(token)}/sound`);
  } catch (error) {
    if (error instanceof ApiError && FINAL.has(error.code)) return error.message;
  }
  return null;
}

/** Loads the valid watch links of a session. */
export function useWatchLinks(sessionId: string) {
  return useQuery({
    queryKey: watchKeys.links(sessionId),
    queryFn: async ({ signal }) => {
      const path = { id: sessionId };
      const answer = await request("GET /api/sessions/{id}/watch-links", { path, signal });
      return answer.links;
    },
  });
}

export function useMakeWatchLink(sessionId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (lifetimeSeconds: number) => {
      const path = { id: sessionId };
      const body = { lifetime_seconds: lifetimeSeconds };
      return request("POST /api/sessions/{id}/watch-links", { path, body });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: watchKeys.links(sessionId) }),
  });
}

export function useRevokeWatchLink(sessionId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (link: string) =>
      request("DELETE /api/sessions/{id}/watch-links/{link}", { path: { id: sessionId, link } }),
    onSuccess: () => client.invalidateQueries({ queryKey: watchKeys.links(sessionId) }),
  });
}
