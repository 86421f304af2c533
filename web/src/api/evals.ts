import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { isStatus, request } from "./client";
import type { EvalResults, StartEval } from "./types";

export const evalKeys = {
  all: ["evals"] as const,
  list: ["evals", "list"] as const,
  one: (id: string) => ["evals", "one", id] as const,
  suites: ["evals", "suites"] as const,
};

const PAGE_SIZE = 20;
/** The period at which an eval is loaded again while it goes on. */
const LIVE_MS = 2_000;
/** The period at which the list is loaded again. Its evals change by themselves. */
const LIST_MS = 5_000;

/** Loads the user's evals, newest first. */
export function useEvals() {
  return useInfiniteQuery({
    queryKey: evalKeys.list,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      request("GET /api/evals", { query: { limit: PAGE_SIZE, before: pageParam }, signal }),
    getNextPageParam: (page) => page.next ?? undefined,
    refetchInterval: LIST_MS,
  });
}

/** Loads an eval with its results so far, again and again while it goes on. */
export function useEval(id: string) {
  return useQuery({
    queryKey: evalKeys.one(id),
    queryFn: ({ signal }) => request("GET /api/evals/{id}", { path: { id }, signal }),
    refetchInterval: ({ state: { data, error } }) => {
      const mayChange = data === undefined || data.state === "running" || data.n_ended < data.n_trials;
      return mayChange && !isStatus(error, 404) ? LIVE_MS : false;
    },
  });
}

/** Loads the suites that come with the server. They change only with its version. */
export function useEvalSuites() {
  return useQuery({
    queryKey: evalKeys.suites,
    queryFn: async ({ signal }) => {
      const answer = await request("GET /api/eval-suites", { signal });
      return answer.suites;
    },
    staleTime: Infinity,
  });
}

export function useStartEval() {
  const keep = useKeep();
  return useMutation({
    mutationFn: (body: StartEval) => request("POST /api/evals", { body }),
    onSuccess: keep,
  });
}

export function useStopEval(id: string) {
  const keep = useKeep();
  return useMutation({
    mutationFn: () => request("POST /api/evals/{id}/stop", { path: { id } }),
    onSuccess: keep,
  });
}

/** Deletes an eval that has ended, with the sessions of its trials if that is wanted. */
export function useDeleteEval(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (withSessions: boolean) =>
      request("DELETE /api/evals/{id}", { path: { id }, query: { sessions: withSessions } }),
    onSuccess: () => client.invalidateQueries({ queryKey: evalKeys.list }),
  });
}

/** Returns a function that stores an eval that the server sent. */
function useKeep(): (run: EvalResults) => void {
  const client = useQueryClient();
  return (run) => {
    client.setQueryData(evalKeys.one(run.id), run);
    void client.invalidateQueries({ queryKey: evalKeys.list });
  };
}
