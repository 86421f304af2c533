import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";

import { request } from "./client";
import type { AnswerDecision } from "./types";

export const decisionKeys = {
  inbox: ["decisions"] as const,
};

const PAGE_SIZE = 50;
/** The period at which the inbox is loaded again, in case the bus missed something. */
const POLL_MS = 60_000;

/** Loads the decisions that the user can answer, in all sessions, newest first. */
export function useInbox() {
  return useInfiniteQuery({
    queryKey: decisionKeys.inbox,
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: PAGE_SIZE, before: pageParam === "" ? undefined : pageParam };
      return request("GET /api/decisions", { query, signal });
    },
    getNextPageParam: (page) => page.next,
    refetchInterval: POLL_MS,
  });
}

/** Answers a decision. The inbox is loaded again whatever the result. */
export function useAnswer(sessionId: string, decisionId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: AnswerDecision) => {
      const path = { id: sessionId, decision: decisionId };
      return request("POST /api/sessions/{id}/decisions/{decision}/answer", { path, body });
    },
    onSettled: () => client.invalidateQueries({ queryKey: decisionKeys.inbox }),
  });
}
