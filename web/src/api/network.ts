import { useInfiniteQuery } from "@tanstack/react-query";

import { request } from "./client";

const PAGE_SIZE = 100;
/** The time between two looks at the counts of bytes. */
const RENEW_MS = 2000;

export const networkKey = (id: string) => ["network", id] as const;

/** Loads the network of a session: its policy, and the hosts that its programs contacted. */
export function useNetwork(id: string, isLive: boolean) {
  return useInfiniteQuery({
    queryKey: networkKey(id),
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: PAGE_SIZE, skip: pageParam };
      return request("GET /api/sessions/{id}/network", { path: { id }, query, signal });
    },
    getNextPageParam: (page) => page.next,
    refetchInterval: isLive ? RENEW_MS : false,
  });
}
