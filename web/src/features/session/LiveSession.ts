import { createContext, useContext } from "react";

import type { SessionState } from "../../api/types";
import type { Timeline } from "../conversation/timeline";
import type { Control } from "../screen/control";

/** The part of an open session that only some panels need. */
export interface LiveSession {
  state: SessionState;
  timeline: Timeline;
  control: Control;
  /** The user's id, once it is known. */
  me: string | undefined;
}

export const LiveSessionContext = createContext<LiveSession | null>(null);

/** Returns the session as its log tells it now. Only panels of the session page can call this. */
export function useLiveSession(): LiveSession {
  const live = useContext(LiveSessionContext);
  if (live === null) throw new Error("this panel is outside of a session");
  return live;
}
