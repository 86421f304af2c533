import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";

import { request } from "./client";
import type { AnswerDecision, Decision, DecisionsPage } from "./types";

export const decisionKeys = {
  inbox: ["decisions"] as const,
};

const PAGE_SIZE = 50;
/** How often the inbox is asked for again, should the bus have missed something. */
const POLL_MS = 60_000;

/** What waits for an answer of whoever is signed in, over all sessions, newest first. */
export function useInbox() {
  return useInfiniteQuery({
    queryKey: decisionKeys.inbox,
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => {
      const before = pageParam === "" ? "" : `&before=${encodeURIComponent(pageParam)}`;
      const path = `/api/decisions?limit=${PAGE_SIZE}${before}`;
      return request<DecisionsPage>("GET", path, undefined, signal);
    },
    getNextPageParam: (page) => page.next,
    refetchInterval: POLL_MS,
  });
}

/** Answers a decision. Whatever came of it, the inbox is another one then. */
export function useAnswer(sessionId: string, decisionId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (answer: AnswerDecision) =>
      request<Decision>(
        "POST",
        `/api/sessions/${sessionId}/decisions/${decisionId}/answer`,
        answer,
      ),
    onSettled: () => client.invalidateQueries({ queryKey: decisionKeys.inbox }),
  });
}
