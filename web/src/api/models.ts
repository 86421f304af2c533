import { useQuery } from "@tanstack/react-query";

import { request } from "./client";

export const modelKeys = { list: ["models"] as const };

/** Loads the models to choose from. They change only when the server's configuration does. */
export function useModels() {
  return useQuery({
    queryKey: modelKeys.list,
    queryFn: ({ signal }) => request("GET /api/models", { signal }),
    staleTime: 60_000,
  });
}
