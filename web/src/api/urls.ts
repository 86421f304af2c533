/** URLs that pictures and WebSockets use directly. */

export function blobUrl(name: string): string {
  return `/api/blobs/${encodeURIComponent(name)}`;
}

/** Returns the URL of a file that the event with this number shares. */
export function artifactUrl(sessionId: string, seq: number): string {
  return `/api/sessions/${sessionId}/artifacts/${seq}`;
}

/** Returns the URL of a file that came with a message. */
export function attachmentUrl(sessionId: string, id: string): string {
  return `/api/sessions/${sessionId}/attachments/${id}`;
}

/**
 * Returns the URL of the last screenshot. `asOf` is the newest event seen, so that the browser's
 * cache does not serve an older picture.
 */
export function lastScreenUrl(sessionId: string, asOf: number): string {
  return `/api/sessions/${sessionId}/screenshot?as_of=${asOf}`;
}

export function streamUrl(sessionId: string, after: number): string {
  return webSocketUrl(`/api/sessions/${sessionId}/stream?after=${after}&presence=true`);
}

export function busUrl(): string {
  return webSocketUrl("/api/events");
}

export function screenUrl(sessionId: string): string {
  return webSocketUrl(`/api/sessions/${sessionId}/vnc`);
}

export function soundUrl(sessionId: string): string {
  return webSocketUrl(`/api/sessions/${sessionId}/sound`);
}

/** Returns the URL of the video or the sound that a watch link leads to. */
export function watchUrl(token: string, what: "sound" | "video", name = ""): string {
  const query = name === "" ? "" : `?name=${encodeURIComponent(name)}`;
  return webSocketUrl(`/api/watch/${encodeURIComponent(token)}/${what}${query}`);
}

export function terminalUrl(sessionId: string, number: number): string {
  return webSocketUrl(`/api/sessions/${sessionId}/terminals/${number}`);
}

function webSocketUrl(path: string): string {
  const url = new URL(path, window.location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}
