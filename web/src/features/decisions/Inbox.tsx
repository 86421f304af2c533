import { Link } from "@tanstack/react-router";
import { CircleCheck, CloudOff } from "lucide-react";

import { messageOf } from "../../api/client";
import { useInbox } from "../../api/decisions";
import { useOffers } from "../../api/offers";
import { useSession } from "../../api/sessions";
import type { Decision } from "../../api/types";
import { Button } from "../../components/Button";
import { Notice } from "../../components/Notice";
import { Placeholder } from "../../components/Placeholder";
import { Skeleton } from "../../components/Skeleton";
import { type Asked, DecisionCard } from "./DecisionCard";

/** Shows everything that waits for the user, newest first. */
export function Inbox() {
  const inbox = useInbox();
  // They are shown beside this list.
  const n_offers = useOffers().data?.length ?? 0;
  if (inbox.isPending) {
    return (
      <div role="status" aria-label="Loading the decisions waiting for you" className="flex flex-col gap-3">
        <Skeleton className="h-28 w-full rounded-lg" />
        <Skeleton className="h-28 w-full rounded-lg" />
      </div>
    );
  }
  if (!inbox.data) {
    return (
      <Placeholder
        icon={<CloudOff aria-hidden />}
        title="The decisions waiting for you could not be loaded"
        actions={<Button onClick={() => void inbox.refetch()}>Try again</Button>}
      >
        {messageOf(inbox.error)}
      </Placeholder>
    );
  }
  const all = inbox.data.pages.flatMap((page) => page.decisions);
  return (
    <div className="flex flex-col gap-3">
      {inbox.isError && <Notice>This list may be out of date. {messageOf(inbox.error)}</Notice>}
      {all.length === 0 && n_offers === 0 && (
        <Placeholder icon={<CircleCheck aria-hidden />} title="Nothing is waiting for you">
          Questions and requests for approval from your agents appear here.
        </Placeholder>
      )}
      {all.map((decision) => (
        <InboxCard key={decision.id} decision={decision} />
      ))}
      {inbox.hasNextPage && (
        <Button
          className="self-center"
          disabled={inbox.isFetchingNextPage}
          onClick={() => void inbox.fetchNextPage()}
        >
          {inbox.isFetchingNextPage ? "Loading…" : "Load more"}
        </Button>
      )}
    </div>
  );
}

/** A decision with a link to its session. The list contains only decisions that the user may answer. */
function InboxCard({ decision }: { decision: Decision }) {
  const { id, kind, session_id: sessionId } = decision;
  // Some answers to a blocked host, and to what a rule can allow, are the owner's alone.
  const hasOwnersAnswer = kind === "network" || decision.rule != null;
  const session = useSession(sessionId, { enabled: hasOwnersAnswer });
  return (
    <DecisionCard
      key={id}
      sessionId={sessionId}
      asked={asked(decision)}
      right={hasOwnersAnswer ? (session.data?.right ?? "drive") : "owner"}
      origin={
        <Link to="/sessions/$sessionId" params={{ sessionId }} className="underline-offset-2 hover:underline">
          in {decision.session_title || "Untitled session"}
        </Link>
      }
    />
  );
}

function asked(decision: Decision): Asked {
  return {
    ...decision,
    expiresAt: decision.expires_at,
    answeredBy: decision.answered_by_name ?? undefined,
    settledAt: decision.settled_at,
  };
}
