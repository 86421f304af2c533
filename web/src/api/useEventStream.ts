import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { peopleKeys } from "./people";
import { askAgain } from "./queryClient";
import { sessionKeys } from "./sessions";
import { type Connection, EventStream } from "./stream";
import type { SessionEvent } from "./types";
import { streamUrl } from "./urls";

/** Events after which the session has to be loaded again. */
const REFRESHING: ReadonlySet<SessionEvent["type"]> = new Set([
  "status",
  "message",
  "lease",
  "model",
  "changed",
]);

/** The interval at which the server is told that a person is viewing. It expects one within 75 seconds. */
const HEARTBEAT_MS = 30_000;

/**
 * Follows a session's events and returns the state of the connection.
 *
 * `onEvents` must keep its identity. It may receive events again when the page is mounted again, so
 * it has to go by their numbers.
 */
export function useEventStream(
  sessionId: string,
  onEvents: (events: SessionEvent[]) => void,
): Connection {
  const [connection, setConnection] = useState<Connection>("connecting");
  const client = useQueryClient();

  useEffect(() => {
    const refreshSession = () => askAgain(client, sessionKeys.one(sessionId));
    // A page that is not visible does not keep a desktop awake.
    const beat = () => {
      if (document.visibilityState === "visible") stream.heartbeat();
    };
    const stream: EventStream = new EventStream((after) => streamUrl(sessionId, after), {
      onEvents: (events) => {
        onEvents(events);
        // For example, a first prompt gives the session its title.
        if (events.some(({ type }) => REFRESHING.has(type))) refreshSession();
      },
      onConnection: (next) => {
        setConnection(next);
        if (next === "live") beat();
        // A refused WebSocket does not tell the page why, but loading the session does.
        if (next === "reconnecting") refreshSession();
      },
      onPresence: () => askAgain(client, peopleKeys.people(sessionId)),
    });
    const hurry = () => {
      if (document.visibilityState === "visible") stream.retryNow();
      beat();
    };
    const beating = setInterval(beat, HEARTBEAT_MS);
    window.addEventListener("online", hurry);
    document.addEventListener("visibilitychange", hurry);
    return () => {
      clearInterval(beating);
      window.removeEventListener("online", hurry);
      document.removeEventListener("visibilitychange", hurry);
      stream.close();
    };
  }, [sessionId, onEvents, client]);

  return connection;
}
