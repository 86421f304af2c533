import { useMutation, useQuery } from "@tanstack/react-query";

import { request } from "./client";

const layoutKeys = { mine: ["layout"] as const };

/** Loads the layout of the user's session page, whenever the page is opened. `null` if there is none. */
export function useSavedLayout() {
  return useQuery({
    queryKey: layoutKeys.mine,
    queryFn: async ({ signal }) => (await request("GET /api/me/layout", { signal })).layout ?? null,
    // Another browser's layout must not replace this one while somebody works.
    staleTime: Infinity,
    gcTime: 0,
  });
}

/** Stores the layout of the user's session page. */
export function useSaveLayout() {
  return useMutation({
    mutationFn: (layout: Record<string, unknown>) => request("PUT /api/me/layout", { body: { layout } }),
  });
}
