import { Link } from "@tanstack/react-router";
import { ChevronRight, CloudOff, Inbox } from "lucide-react";

import { messageOf } from "../../api/client";
import { useSessions } from "../../api/sessions";
import type { Session } from "../../api/types";
import { Button } from "../../components/Button";
import { Notice } from "../../components/Notice";
import { Placeholder } from "../../components/Placeholder";
import { Skeleton } from "../../components/Skeleton";
import { StateBadge } from "../../components/StateBadge";
import { TimeAgo } from "../../components/TimeAgo";
import { groupsOf } from "./groups";

const FRAME = "overflow-hidden rounded-xl border border-line bg-surface";

/** Shows all sessions: those that need a person first, then the others, each group newest first. */
export function SessionList() {
  const sessions = useSessions();

  if (sessions.isPending) return <ListSkeleton />;
  if (!sessions.data) {
    return (
      <div className={FRAME}>
        <Placeholder
          icon={<CloudOff aria-hidden />}
          title="The sessions could not be loaded"
          actions={<Button onClick={() => void sessions.refetch()}>Try again</Button>}
        >
          {messageOf(sessions.error)}
        </Placeholder>
      </div>
    );
  }

  const all = sessions.data.pages.flatMap((page) => page.sessions);
  if (all.length === 0) {
    return (
      <div className={FRAME}>
        <Placeholder icon={<Inbox aria-hidden />} title="No sessions yet">
          Write above what the agent should do, or try the demo. Everything it does is kept here.
        </Placeholder>
      </div>
    );
  }
  const groups = groupsOf(all);
  return (
    <div className="flex flex-col gap-3">
      {sessions.isError && (
        <Notice>This list may be out of date. {messageOf(sessions.error)}</Notice>
      )}
      {groups.map(({ title, sessions: inGroup }) => (
        <section key={title} aria-label={title} className="flex flex-col gap-1.5">
          {groups.length > 1 && <h3 className="text-xs font-medium text-faint">{title}</h3>}
          <ul className={`${FRAME} divide-y divide-line`}>
            {inGroup.map((session) => (
              <li key={session.id}>
                <SessionRow session={session} />
              </li>
            ))}
          </ul>
        </section>
      ))}
      {sessions.hasNextPage && (
        <Button
          className="self-center"
          disabled={sessions.isFetchingNextPage}
          onClick={() => void sessions.fetchNextPage()}
        >
          {sessions.isFetchingNextPage ? "Loading…" : "Load more"}
        </Button>
      )}
    </div>
  );
}

function SessionRow({ session }: { session: Session }) {
  return (
    <Link
      to="/sessions/$sessionId"
      params={{ sessionId: session.id }}
      className="group flex items-center gap-3 px-4 py-3 -outline-offset-2 hover:bg-hover"
    >
      <div className="min-w-0 flex-1">
        <div className="truncate font-medium">{session.title || "Untitled session"}</div>
        <div className="mt-0.5 flex min-w-0 items-center gap-1.5 text-xs text-faint">
          <TimeAgo at={session.created_at} />
          <span aria-hidden>·</span>
          <span className="truncate">{session.model}</span>
        </div>
      </div>
      <StateBadge state={session.state} sandbox={session.sandbox} right={session.right} />
      <ChevronRight aria-hidden className="size-4 shrink-0 text-faint group-hover:text-ink" />
    </Link>
  );
}

function ListSkeleton() {
  return (
    <div
      role="status"
      aria-label="Loading the sessions"
      className={`${FRAME} divide-y divide-line`}
    >
      {["w-1/2", "w-2/5", "w-3/5", "w-1/3"].map((width) => (
        <div key={width} className="flex h-[65px] items-center gap-3 px-4">
          <div className="flex flex-1 flex-col gap-2">
            <Skeleton className={`h-3.5 ${width}`} />
            <Skeleton className="h-3 w-32" />
          </div>
          <Skeleton className="h-5 w-16 rounded-full" />
        </div>
      ))}
    </div>
  );
}
