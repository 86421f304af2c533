import type { Session, SessionState } from "../../api/types";

/** The groups of the list, in its order. */
const GROUPS: readonly { title: string; states: readonly SessionState[] }[] = [
  { title: "Waiting for an answer", states: ["waiting"] },
  { title: "Working", states: ["running", "initializing"] },
  { title: "Others", states: ["idle", "error", "terminated"] },
];

export interface SessionGroup {
  title: string;
  sessions: readonly Session[];
}

/** Puts the sessions that need a person first, then those at work. Empty groups are left out. */
export function groupsOf(sessions: readonly Session[]): SessionGroup[] {
  return GROUPS.map(({ title, states }) => ({
    title,
    sessions: sessions.filter(({ state }) => states.includes(state)),
  })).filter((group) => group.sessions.length > 0);
}
