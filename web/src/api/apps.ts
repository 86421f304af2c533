import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { request } from "./client";
import type { SandboxToken } from "./types";

/** The interval at which the listening ports are read while somebody looks at them, in milliseconds. */
const PORTS_INTERVAL = 2_000;

interface PortsOptions {
  isEnabled?: boolean;
  /** In milliseconds. */
  interval?: number;
}

/** Loads the ports on which programs listen, again and again. */
export function usePorts(sessionId: string, { isEnabled = true, interval = PORTS_INTERVAL }: PortsOptions = {}) {
  return useQuery({
    enabled: isEnabled,
    queryKey: ["ports", sessionId],
    queryFn: ({ signal }) =>
      request("GET /api/sessions/{id}/ports", { path: { id: sessionId }, signal }),
    refetchInterval: interval,
  });
}

/** Shares a port with everybody in the session, or ends that. Only the owner may. */
export function useSharePort(sessionId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ port, isShared }: { port: number; isShared: boolean }) => {
      const path = { id: sessionId, port: String(port) };
      return isShared
        ? request("PUT /api/sessions/{id}/shared-ports/{port}", { path })
        : request("DELETE /api/sessions/{id}/shared-ports/{port}", { path });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ["ports", sessionId] }),
  });
}

/** A program of the desktop, at one of its paths. */
export interface Place {
  /** `vscode` or `port-N`. */
  service: string;
  /** Begins with a slash. */
  path: string;
}

/** Loads the address at which a frame opens a program. `visit` is another number for each time it is opened. */
export function useAddress(sessionId: string, place: Place, visit: number) {
  return useQuery({
    queryKey: ["address", sessionId, place.service, place.path, visit],
    queryFn: ({ signal }) => addressOf(sessionId, place, signal),
    // The address opens the program once. Another one would load the frame again.
    staleTime: Infinity,
    gcTime: 0,
    refetchOnReconnect: false,
  });
}

/** Returns an address that opens a program for this user. */
export async function addressOf(
  sessionId: string,
  { service, path }: Place,
  signal?: AbortSignal,
): Promise<string> {
  const parts = { path: { id: sessionId }, query: { service } };
  const issued = await request("GET /api/sessions/{id}/sandbox-token", signal ? { ...parts, signal } : parts);
  return withToken(issued, path);
}

/** Adds the token to the address of its service. */
export function withToken({ token, service, urls }: SandboxToken, path: string): string {
  // The path is appended, since a path such as `//example.com` would otherwise lead elsewhere.
  const url = new URL(`${urls[service] ?? ""}${path}`);
  url.searchParams.append("token", token);
  return url.href;
}
