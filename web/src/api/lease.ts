import { useMutation } from "@tanstack/react-query";

import { request } from "./client";
import type { Lease, TakeControl } from "./types";

function leasePath(sessionId: string): string {
  return `/api/sessions/${sessionId}/lease`;
}

/** Takes mouse and keyboard, or keeps them for longer. What came of it is in the log. */
export function useTakeControl(sessionId: string) {
  return useMutation({
    mutationFn: ({ force }: { force: boolean }) => {
      const body: TakeControl = { force };
      return request<Lease>("PUT", leasePath(sessionId), body);
    },
  });
}

export function useHandBack(sessionId: string) {
  return useMutation({ mutationFn: () => request<void>("DELETE", leasePath(sessionId)) });
}
