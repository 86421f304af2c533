import { MutationCache, QueryCache, QueryClient, type QueryKey } from "@tanstack/react-query";

import { ABOUT_A_CODE, accountKeys } from "./account";
import { ApiError, isStatus } from "./client";

/** Failures that may pass by themselves: no answer, or one that says "our fault". */
function mayPass(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500);
}

/** A 401 anywhere means that the cookie is worth nothing any more: the gate shows the sign-in page. */
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
        // The server is often on this very machine, which works without a network too.
        networkMode: "always",
      },
      mutations: { networkMode: "always" },
    },
  });
  return client;
}

/**
 * Asks again for what has changed. An answer that is still on its way may be from before the change,
 * and a first one would otherwise be waited for instead.
 */
export function askAgain(client: QueryClient, queryKey: QueryKey): void {
  void client.cancelQueries({ queryKey }).then(() => client.invalidateQueries({ queryKey }));
}
