import { useQuery } from "@tanstack/react-query";

import { request } from "./client";
import type { Models } from "./types";

export const modelKeys = { list: ["models"] as const };

/** The models there are to choose from. They change when the server is set up anew. */
export function useModels() {
  return useQuery({
    queryKey: modelKeys.list,
    queryFn: ({ signal }) => request<Models>("GET", "/api/models", undefined, signal),
    staleTime: 60_000,
  });
}
