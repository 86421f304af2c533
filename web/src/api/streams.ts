import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { useMe } from "./account";
import { request } from "./client";

export const streamKeys = {
  all: ["streams"] as const,
  active: ["streams", "active"] as const,
  history: ["streams", "history"] as const,
  figures: ["streams", "figures"] as const,
  setup: ["streams", "setup"] as const,
};

const PAGE_SIZE = 20;
/** The period at which the active streams are loaded again. They change by themselves. */
const ACTIVE_MS = 3_000;
/** The period at which everything else about streams is loaded again. */
const REST_MS = 15_000;
/** The time for which the menu believes that the server runs streams, or not. It changes only with a restart. */
const MENU_MS = 300_000;

export function useActiveStreams() {
  return useQuery({
    queryKey: streamKeys.active,
    queryFn: async ({ signal }) => {
      const answer = await request("GET /api/streams/active", { signal });
      return answer.streams;
    },
    refetchInterval: ACTIVE_MS,
  });
}

/** Loads all streams, newest first. */
export function useStreamHistory() {
  return useInfiniteQuery({
    queryKey: streamKeys.history,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      request("GET /api/streams", { query: { limit: PAGE_SIZE, before: pageParam }, signal }),
    getNextPageParam: (page) => page.next ?? undefined,
    refetchInterval: REST_MS,
  });
}

export function useStreamFigures() {
  return useQuery({
    queryKey: streamKeys.figures,
    queryFn: ({ signal }) => request("GET /api/streams/figures", { signal }),
    refetchInterval: REST_MS,
  });
}

/** Loads the checks of the settings. */
export function useStreamSetup() {
  return useQuery({
    queryKey: streamKeys.setup,
    queryFn: ({ signal }) => request("GET /api/streams/setup", { signal }),
    refetchInterval: REST_MS,
  });
}

/** Returns true if the user administers a server that runs streams. */
export function useHasStreams(): boolean {
  const me = useMe({ enabled: true });
  const setup = useQuery({
    queryKey: streamKeys.setup,
    enabled: me.data?.role === "admin",
    queryFn: ({ signal }) => request("GET /api/streams/setup", { signal }),
    staleTime: MENU_MS,
  });
  return setup.data?.is_on ?? false;
}

export function useStopStream() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => request("POST /api/streams/{id}/stop", { path: { id } }),
    onSettled: () => client.invalidateQueries({ queryKey: streamKeys.all }),
  });
}
