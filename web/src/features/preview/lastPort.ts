const KEY = "deskhand.port.";

/** Returns the port that was last shown of a session, in this tab of the browser. */
export function lastPort(sessionId: string): number | null {
  try {
    return Number(sessionStorage.getItem(KEY + sessionId)) || null;
  } catch {
    return null;
  }
}

/** Remembers the port that is shown until the browser's tab is closed. */
export function rememberPort(sessionId: string, port: number): void {
  try {
    sessionStorage.setItem(KEY + sessionId, String(port));
  } catch {
    // Without storage, the first port is shown next time.
  }
}
