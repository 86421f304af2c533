import { useMutation } from "@tanstack/react-query";

import { request } from "./client";

/** Takes control of the mouse and the keyboard, or extends it. The result arrives in the log. */
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
