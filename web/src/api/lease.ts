import { useMutation } from "@tanstack/react-query";

import { request } from "./client";

/** Takes mouse and keyboard, or keeps them for longer. The log tells the result. */
export function useTakeControl(sessionId: string) {
  return useMutation({
    mutationFn: (body: { force: boolean }) =>
      request("PUT /api/sessions/{id}/lease", { path: { id: sessionId }, body }),
  });
}

export function useHandBack(sessionId: string) {
  return useMutation({
    mutationFn: () => request("DELETE /api/sessions/{id}/lease", { path: { id: sessionId } }),
  });
}
