import { type InfiniteData, type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { limitKeys, usageKeys } from "./account";
import { SessionsBus } from "./bus";
import { decisionKeys } from "./decisions";
import { offerKeys } from "./offers";
import { peopleKeys } from "./people";
import { askAgain } from "./queryClient";
import { sessionKeys } from "./sessions";
import type { BusMessage, Session, SessionsPage } from "./types";
import { busUrl } from "./urls";

type Sessions = InfiniteData<SessionsPage>;

/** Keeps all cached data about the user's sessions up to date as long as the page is open. */
export function useSessionsBus(): void {
  const client = useQueryClient();
  useEffect(() => {
    const bus = new SessionsBus(busUrl(), (message) => take(client, message));
    const hurry = () => {
      if (document.visibilityState === "visible") bus.retryNow();
    };
    window.addEventListener("online", hurry);
    document.addEventListener("visibilitychange", hurry);
    return () => {
      window.removeEventListener("online", hurry);
      document.removeEventListener("visibilitychange", hurry);
      bus.close();
    };
  }, [client]);
}

function take(client: QueryClient, message: BusMessage): void {
  switch (message.type) {
    case "snapshot":
      // It contains everything that happened while the bus was disconnected, and older sessions may
      // have changed too.
      askAgain(client, sessionKeys.list);
      break;
    case "session": {
      const session = message.data;
      client.setQueryData<Sessions>(sessionKeys.list, (list) => list && withSession(list, session));
      client.setQueryData<Session>(sessionKeys.one(session.id), (known) => known && session);
      askAgain(client, limitKeys.mine);
      askAgain(client, usageKeys.mine);
      askAgain(client, decisionKeys.inbox);
      break;
    }
    case "session_gone": {
      const { session } = message.data;
      client.setQueryData<Sessions>(sessionKeys.list, (list) => list && withoutSession(list, session));
      askAgain(client, sessionKeys.one(session));
      break;
    }
    case "notice":
      // All notices about offers have such a code.
      if (message.data.code.includes("offer")) {
        askAgain(client, offerKeys.mine);
        askAgain(client, peopleKeys.all);
      }
      break;
    default:
      break;
  }
}

/** Returns the list with a new or changed session in its place. The list is sorted newest first, by id. */
export function withSession(list: Sessions, session: Session): Sessions {
  const { pages } = list;
  const isKnown = pages.some((page) => page.sessions.some(({ id }) => id === session.id));
  if (isKnown) {
    const swap = (known: Session) => (known.id === session.id ? session : known);
    return { ...list, pages: pages.map((page) => ({ ...page, sessions: page.sessions.map(swap) })) };
  }
  // A session older than all loaded ones comes with its own page.
  const index = pages.findIndex(
    (page) => page.next === null || page.sessions.some(({ id }) => id < session.id),
  );
  const page = pages[index];
  if (!page) return list;
  const sessions = [...page.sessions, session];
  sessions.sort((one, other) => (one.id < other.id ? 1 : -1));
  const changed = [...pages];
  changed[index] = { ...page, sessions };
  return { ...list, pages: changed };
}

export function withoutSession(list: Sessions, gone: string): Sessions {
  const rest = (page: SessionsPage) => page.sessions.filter(({ id }) => id !== gone);
  return { ...list, pages: list.pages.map((page) => ({ ...page, sessions: rest(page) })) };
}
