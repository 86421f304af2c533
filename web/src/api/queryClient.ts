import { MutationCache, QueryCache, QueryClient, type QueryKey } from "@tanstack/react-query";

import { ABOUT_A_CODE, accountKeys } from "./account";
import { ApiError, isStatus } from "./client";

/** Returns true for failures that may be temporary: no response, or a server error. */
function mayPass(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500);
}

/**
 * Creates the client. A 401 to any request means that the cookie is no longer valid, so the gate
 * shows the sign-in page.
 */
export function createQueryClient(): QueryClient {
  const notice = (error: unknown, meta: Record<string, unknown> | undefined) => {
    if (isStatus(error, 401) && meta !== ABOUT_A_CODE) client.setQueryData(accountKeys.me, null);
  };
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: (error, query) => notice(error, query.meta) }),
    mutationCache: new MutationCache({
      onError: (error, _variables, _result, mutation) => notice(error, mutation.meta),
    }),
    defaultOptions: {
      queries: {
        staleTime: 2_000,
        retry: (n_failed, error) => n_failed < 1 && mayPass(error),
        retryDelay: 500,
        // The server is often on this very machine, which also works without a network.
        networkMode: "always",
      },
      mutations: { networkMode: "always" },
    },
  });
  return client;
}

/**
 * Loads changed data again.
 *
 * A response that is still on its way may be from before the change. It is cancelled first, because
 * a first load would otherwise not be repeated.
 */
export function askAgain(client: QueryClient, queryKey: QueryKey): void {
  void client.cancelQueries({ queryKey }).then(() => client.invalidateQueries({ queryKey }));
}
