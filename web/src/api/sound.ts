import { ApiError, requestRaw } from "./client";

/** The reasons that another attempt does not change. */
const FINAL = new Set(["no_sound_card", "sound_failed"]);

/**
 * Returns the reason why nobody can listen to a session's desktop, or `null` if it may work soon.
 *
 * Browsers do not show pages the answer to a refused WebSocket, so this asks without one.
 */
export async function whyNoSound(sessionId: string): Promise<string | null> {
  try {
    await requestRaw(`/api/sessions/${sessionId}/sound`);
  } catch (error) {
    if (error instanceof ApiError && FINAL.has(error.code)) return error.message;
  }
  return null;
}
