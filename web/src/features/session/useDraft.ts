import { useState } from "react";

const KEY = "deskhand.draft.";

/** Keeps the unsent message of a session until the browser's tab is closed. */
export function useDraft(sessionId: string): [string, (draft: string) => void] {
  const [draft, setDraft] = useState(() => read(sessionId));
  const change = (next: string) => {
    setDraft(next);
    write(sessionId, next);
  };
  return [draft, change];
}

function read(sessionId: string): string {
  try {
    return sessionStorage.getItem(KEY + sessionId) ?? "";
  } catch {
    return "";
  }
}

function write(sessionId: string, draft: string): void {
  try {
    if (draft === "") sessionStorage.removeItem(KEY + sessionId);
    else sessionStorage.setItem(KEY + sessionId, draft);
  } catch {
    // Without storage, the draft lasts as long as the page.
  }
}
