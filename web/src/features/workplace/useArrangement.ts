import { useEffect, useRef, useState } from "react";

import type { PanelId } from "./layout";
import {
  keepArrangement,
  keptArrangement,
  loadArrangement,
  readArrangement,
  saveArrangement,
  savedAt,
  type SavedArrangement,
} from "./savedLayout";

/** A user's arrangement on the server, which follows them from browser to browser. */
export interface RemoteLayout {
  /** `undefined` until it is known, and `null` if there is none. */
  saved: SavedArrangement | null | undefined;
  save: (saved: SavedArrangement) => void;
}

/** The time without a change after which an arrangement is sent to the server. */
const SEND_AFTER_MS = 1_000;

/**
 * Keeps a user's arrangement. The browser has it at once, the server a moment later, and when the page is opened the
 * newer of both counts.
 */
export function useArrangement(user: string, ids: readonly PanelId[], { saved, save }: RemoteLayout) {
  const [arrangement, setArrangement] = useState(() => loadArrangement(user, ids));
  const stored = useRef(arrangement);
  const send = useSoon(save);

  useEffect(() => {
    if (stored.current === arrangement) return;
    stored.current = arrangement;
    send(saveArrangement(user, arrangement, ids));
  }, [user, arrangement, ids, send]);

  const hasCompared = useRef(false);
  useEffect(() => {
    if (saved === undefined || hasCompared.current) return;
    hasCompared.current = true;
    const kept = keptArrangement(user);
    if (saved !== null && savedAt(saved) > savedAt(kept)) {
      keepArrangement(user, saved);
      stored.current = readArrangement(saved, ids);
      setArrangement(stored.current);
    } else if (kept !== null && savedAt(kept) > savedAt(saved)) {
      send(kept);
    }
  }, [user, ids, saved, send]);
  return [arrangement, setArrangement] as const;
}

/** Returns a function that passes on the last of several values: after a moment of rest, or when the page is left. */
function useSoon<Value>(pass: (value: Value) => void): (value: Value) => void {
  const latest = useRef(pass);
  useEffect(() => {
    latest.current = pass;
  }, [pass]);
  const [{ soon, now }] = useState(() => {
    let waiting: { value: Value } | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const passOn = () => {
      clearTimeout(timer);
      if (waiting !== null) latest.current(waiting.value);
      waiting = null;
    };
    return {
      now: passOn,
      soon: (value: Value) => {
        clearTimeout(timer);
        waiting = { value };
        timer = setTimeout(passOn, SEND_AFTER_MS);
      },
    };
  });
  useEffect(() => now, [now]);
  return soon;
}
