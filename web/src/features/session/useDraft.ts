import { useState } from "react";

const KEY = "deskhand.draft.";

/** The name of the draft that starts a session. No session has this id. */
export const NEW_SESSION = "new";

interface Draft {
  text: string;
  change: (text: string) => void;
  /** Removes a text that was sent. What was written since then stays. */
  clearSent: (sent: string) => void;
}

/** Keeps the unsent message of a session until the browser's tab is closed. */
export function useDraft(sessionId: string): Draft {
  const [text, setText] = useState(() => read(sessionId));
  const change = (next: string) => {
    setText(next);
    write(sessionId, next);
  };
  // A message is on its way for a while, so the text in the field may be newer than this component's last render.
  const clearSent = (sent: string) => {
    setText((now) => without(now, sent));
    write(sessionId, without(read(sessionId), sent));
  };
  return { text, change, clearSent };
}

function without(text: string, sent: string): string {
  const rest = text.trimStart();
  return rest.startsWith(sent) ? rest.slice(sent.length).trimStart() : text;
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
