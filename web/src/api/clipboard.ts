import { request } from "./client";

/** Returns the text on the desktop's clipboard. Only the person who has control may. */
export async function readClipboard(sessionId: string): Promise<string | null> {
  const { text } = await request("GET /api/sessions/{id}/clipboard", { path: { id: sessionId } });
  return text ?? null;
}

/** Puts a text on the desktop's clipboard. */
export async function setClipboard(sessionId: string, text: string): Promise<void> {
  await request("PUT /api/sessions/{id}/clipboard", { path: { id: sessionId }, body: { text } });
}
