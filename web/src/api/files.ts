import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";

import { ApiError, refusal, requestRaw } from "./client";
import type { File as FileEntry, FileAction, Folder } from "./types";

/** The interval at which open folders are listed again. */
const RENEW_MS = 10_000;

export const fileKeys = {
  folders: (sessionId: string) => ["files", sessionId, "folder"] as const,
  folder: (sessionId: string, path: string) => ["files", sessionId, "folder", path] as const,
  /** Every opening of a file reads it once, whatever happens to it on the desktop meanwhile. */
  content: (sessionId: string, opening: number, nLoaded: number) =>
    ["files", sessionId, "content", opening, nLoaded] as const,
};

/** Returns the URL of a file or folder. The path is absolute, or begins with `~`. */
export function fileUrl(sessionId: string, path: string): string {
  // No route has an empty end, so the root folder is an encoded slash.
  if (path === "/") return `/api/sessions/${sessionId}/files/%2F`;
  const parts = path.replace(/^\//, "").split("/").map(encodeURIComponent);
  return `/api/sessions/${sessionId}/files/${parts.join("/")}`;
}

export function archiveUrl(sessionId: string, path: string): string {
  return `${fileUrl(sessionId, path)}?archive=tar.gz`;
}

/** Lists a folder, page by page, and while the desktop runs again from time to time. */
export function useFolder(sessionId: string, path: string, isRunning: boolean) {
  return useInfiniteQuery({
    queryKey: fileKeys.folder(sessionId, path),
    queryFn: async ({ pageParam, signal }): Promise<Folder> => {
      const after = pageParam === null ? "" : `&after=${encodeURIComponent(pageParam)}`;
      const url = `${fileUrl(sessionId, path)}?limit=500${after}`;
      return (await requestRaw(url, { signal })).json();
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    // To list it would start the desktop again.
    refetchInterval: isRunning && RENEW_MS,
    retry: false,
  });
}

/** Lists all open folders again, after a change. The content of an open file stays as it is. */
export function useRefreshFolders(sessionId: string) {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: fileKeys.folders(sessionId) });
}

/** Returns the facts about a file or folder. */
export async function fileInfo(sessionId: string, path: string): Promise<FileEntry> {
  return (await requestRaw(`${fileUrl(sessionId, path)}?info=true`)).json();
}

export async function readContent(
  sessionId: string,
  path: string,
  signal?: AbortSignal,
): Promise<{ blob: Blob; version: string }> {
  const init: RequestInit = signal === undefined ? {} : { signal };
  const response = await requestRaw(fileUrl(sessionId, path), init);
  return { blob: await response.blob(), version: versionOf(response.headers.get("etag")) };
}

export async function changeFile(
  sessionId: string,
  path: string,
  action: FileAction,
): Promise<FileEntry> {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(action),
  };
  return (await requestRaw(fileUrl(sessionId, path), init)).json();
}

export async function removeFile(sessionId: string, path: string): Promise<void> {
  await requestRaw(`${fileUrl(sessionId, path)}?recursive=true`, { method: "DELETE" });
}

/** The version that a write replaces: none, any, or exactly one. */
export type Replaces = { kind: "nothing" } | { kind: "anything" } | { kind: "version"; version: string };

interface WriteOptions {
  replaces: Replaces;
  onProgress?: (part: number) => void;
  signal?: AbortSignal;
}

/** Writes a file and reports the progress, which `fetch` does not know. */
export function writeFile(
  sessionId: string,
  path: string,
  content: Blob,
  { replaces, onProgress, signal }: WriteOptions,
): Promise<FileEntry> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", fileUrl(sessionId, path));
    if (replaces.kind === "nothing") request.setRequestHeader("if-none-match", "*");
    if (replaces.kind === "version") {
      request.setRequestHeader("if-match", `"${replaces.version}"`);
    }
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable && event.total > 0) onProgress?.(event.loaded / event.total);
    });
    request.addEventListener("load", () => {
      if (request.status >= 200 && request.status < 300) resolve(JSON.parse(request.responseText));
      else reject(refusal(request, request.responseText));
    });
    request.addEventListener("error", () =>
      reject(new ApiError(0, "unreachable", "The connection broke while the file was sent.")),
    );
    request.addEventListener("abort", () =>
      reject(new ApiError(0, "aborted", "The upload was stopped.")),
    );
    signal?.addEventListener("abort", () => request.abort());
    request.send(content);
  });
}

function versionOf(tag: string | null): string {
  return tag?.replaceAll('"', "") ?? "";
}
