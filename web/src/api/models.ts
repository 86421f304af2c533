import { useMutation, useQuery } from "@tanstack/react-query";

import { request } from "./client";

export const modelKeys = {
  list: ["models"] as const,
  estimate: (model: string) => ["models", "estimate", model] as const,
};

/** Loads the models to choose from. They change only when the server's configuration does. */
export function useModels() {
  return useQuery({
    queryKey: modelKeys.list,
    queryFn: ({ signal }) => request("GET /api/models", { signal }),
    staleTime: 60_000,
  });
}

/** Loads the cost of checking a model. Nobody is called for it. */
export function useCheckEstimate(model: string, { enabled }: { enabled: boolean }) {
  return useQuery({
    queryKey: modelKeys.estimate(model),
    enabled,
    queryFn: ({ signal }) =>
      request("POST /api/models/check", { body: { model, estimate: true }, signal }),
  });
}

/** Checks a model with a few calls of its vendor, which cost money. */
export function useCheckModel() {
  return useMutation({
    mutationFn: (model: string) =>
      request("POST /api/models/check", { body: { model, estimate: false } }),
  });
}
