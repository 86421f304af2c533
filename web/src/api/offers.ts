import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { request } from "./client";
import { peopleKeys } from "./people";
import { sessionKeys } from "./sessions";
import type { GivenRight } from "./types";

export const offerKeys = { mine: ["offers"] as const };

/** The period at which offers are loaded again, in case the bus missed something. */
const POLL_MS = 60_000;

/** Loads the sessions that are offered to the user, oldest first. */
export function useOffers() {
  return useQuery({
    queryKey: offerKeys.mine,
    queryFn: async ({ signal }) => {
      const answer = await request("GET /api/me/offers", { signal });
      return answer.offers;
    },
    refetchInterval: POLL_MS,
  });
}

export function useAcceptOffer(sessionId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (giver_keeps: GivenRight) => {
      const path = { session: sessionId };
      return request("POST /api/me/offers/{session}/accept", { path, body: { giver_keeps } });
    },
    onSuccess: (session) => client.setQueryData(sessionKeys.one(session.id), session),
    onSettled: () => {
      void client.invalidateQueries({ queryKey: sessionKeys.list });
      return client.invalidateQueries({ queryKey: offerKeys.mine });
    },
  });
}

export function useDeclineOffer(sessionId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () =>
      request("DELETE /api/me/offers/{session}", { path: { session: sessionId } }),
    onSettled: () => client.invalidateQueries({ queryKey: offerKeys.mine }),
  });
}

/** Offers a session to a user, by name. */
export function useMakeOffer(sessionId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (who: string) => {
      const path = { id: sessionId, user: who };
      return request("PUT /api/sessions/{id}/people/{user}", { path, body: { right: "owner" } });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: peopleKeys.people(sessionId) }),
  });
}

export function useWithdrawOffer(sessionId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => request("DELETE /api/sessions/{id}/offer", { path: { id: sessionId } }),
    onSettled: () => client.invalidateQueries({ queryKey: peopleKeys.people(sessionId) }),
  });
}
