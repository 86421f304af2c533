import { useParams } from "@tanstack/react-router";
import { CloudOff } from "lucide-react";
import { useReducer } from "react";

import { isStatus, messageOf } from "../api/client";
import { useSession } from "../api/sessions";
import type { Session } from "../api/types";
import { useEventStream } from "../api/useEventStream";
import { Button } from "../components/Button";
import { Placeholder } from "../components/Placeholder";
import { Skeleton } from "../components/Skeleton";
import { stateWord } from "../components/StateBadge";
import { TopBar } from "../components/TopBar";
import { AccountMenu } from "../features/account/AccountMenu";
import { HomeLink } from "../features/account/Navigation";
import { addEvents, emptyTimeline, type Timeline } from "../features/conversation/timeline";
import type { HeldLease } from "../features/screen/control";
import { SessionPanes } from "../features/session/SessionPanes";
import { SessionTopBar } from "../features/session/SessionTopBar";
import type { Spent } from "../lib/money";
import { NotFoundPage } from "./NotFoundPage";

export function SessionPage() {
  const { sessionId } = useParams({ from: "/sessions/$sessionId" });
  // Another session shares nothing with this one, not even a draft.
  return <OneSession key={sessionId} sessionId={sessionId} />;
}

function OneSession({ sessionId }: { sessionId: string }) {
  const session = useSession(sessionId);
  // This also happens to a session that was just visible, when the user loses access to it.
  if (isStatus(session.error, 404)) {
    return (
      <NotFoundPage
        title="There is no such session"
        explanation="The address may be mistyped, or the session belongs to somebody else."
      />
    );
  }
  if (session.data) return <LoadedSession session={session.data} />;
  return (
    <div className="flex h-dvh flex-col">
      <title>Deskhand</title>
      <TopBar home={<HomeLink />} actions={<AccountMenu />}>
        {session.isPending && <Skeleton className="h-5 w-48" />}
      </TopBar>
      <main className="min-h-0 flex-1">
        {session.isPending ? (
          <PanesSkeleton />
        ) : (
          <Placeholder
            icon={<CloudOff aria-hidden />}
            title="The session could not be loaded"
            actions={<Button onClick={() => void session.refetch()}>Try again</Button>}
          >
            {messageOf(session.error)}
          </Placeholder>
        )}
      </main>
    </div>
  );
}

function LoadedSession({ session }: { session: Session }) {
  const [timeline, onEvents] = useReducer(addEvents, emptyTimeline);
  const connection = useEventStream(session.id, onEvents);

  // While the history is loading, the log shows past states. The session has the current one.
  const isLoading = timeline.lastSeq < session.last_seq;
  const now = isLoading ? session : (timeline.status ?? session);
  const title = session.title || "Untitled session";
  const spent = spentIn(session, timeline);

  return (
    <div className="flex h-dvh flex-col">
      <title>{`${stateWord(now.state, now.sandbox, session.right)} – ${title} · Deskhand`}</title>
      <SessionPanes
        header={
          <SessionTopBar
            session={session}
            state={now.state}
            sandbox={now.sandbox}
            turnStartedAt={timeline.turnStartedAt}
            spent={spent}
            programs={timeline.programsSpent}
          />
        }
        session={session}
        state={now.state}
        sandbox={now.sandbox}
        timeline={timeline}
        lease={isLoading ? heldLease(session) : timeline.lease}
        connection={connection}
        spent={spent}
        isLoading={isLoading && timeline.items.length === 0}
      />
    </div>
  );
}

/** Returns the usage. Both the session and the log only count up, so the larger number is the newer. */
function spentIn(session: Session, { spent }: Timeline): Spent {
  return {
    ...spent,
    usd: Math.max(session.cost_usd, spent.usd),
    tokens: Math.max(session.tokens, spent.tokens),
  };
}

/** Returns the person who has control, according to the session. */
function heldLease({ lease }: Session): HeldLease | null {
  return lease.holder === "person" ? lease : null;
}

function PanesSkeleton() {
  return (
    <div
      role="status"
      aria-label="Loading the session"
      className="flex h-full gap-4 p-4"
    >
      <div className="flex flex-1 flex-col gap-3 md:max-w-[36%]">
        <Skeleton className="h-9 w-3/5 self-end rounded-2xl" />
        <Skeleton className="h-4 w-4/5" />
        <Skeleton className="h-10 w-full" />
        <Skeleton className="h-10 w-full" />
      </div>
      <Skeleton className="h-full flex-1 rounded-lg max-md:hidden" />
    </div>
  );
}
