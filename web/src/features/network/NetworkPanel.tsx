import { Ban, Globe } from "lucide-react";
import type { ReactNode } from "react";

import { messageOf } from "../../api/client";
import { useNetwork } from "../../api/network";
import { useChangeSession } from "../../api/sessions";
import type { NetworkDestination, Session, SessionNetwork } from "../../api/types";
import { Button } from "../../components/Button";
import { Notice } from "../../components/Notice";
import { Placeholder } from "../../components/Placeholder";
import { Skeleton } from "../../components/Skeleton";
import { TimeAgo } from "../../components/TimeAgo";
import { cx } from "../../lib/cx";
import { counted, sentence, visible } from "../../lib/text";
import type { PanelProps } from "../workplace/panel";
import { allowingRule, bytesWords, placeWords } from "./networkWords";
import { PolicyEditor } from "./PolicyEditor";

/** The hosts that programs contacted or tried to, live, and the policy. */
export function NetworkPanel({ session, sandbox }: PanelProps) {
  const isLive = sandbox === "ready" || sandbox === "starting";
  const network = useNetwork(session.id, isLive);
  const first = network.data?.pages[0];
  if (first === undefined) {
    return (
      <div className="h-full min-h-0 overflow-y-auto p-3">
        {network.error ? <Notice>{messageOf(network.error)}</Notice> : <Loading />}
      </div>
    );
  }
  const destinations = network.data?.pages.flatMap((page) => page.destinations) ?? [];
  return (
    <section aria-label="Network" className="flex h-full min-h-0 flex-col bg-surface">
      <PolicyEditor
        session={session}
        policy={first.policy}
        inForce={first.in_force}
        ceiling={first.ceiling}
      />
      <div className="min-h-0 flex-1 overflow-y-auto">
        {network.error && (
          <div className="p-3">
            <Notice>{messageOf(network.error)}</Notice>
          </div>
        )}
        {destinations.length === 0 ? (
          <Placeholder icon={<Globe aria-hidden />} title="No host yet">
            The hosts that programs on the desktop contact appear here, and those that were blocked.
          </Placeholder>
        ) : (
          <ul aria-label="Hosts" className="divide-y divide-line">
            {destinations.map((destination) => (
              <Destination
                key={placeWords(destination)}
                destination={destination}
                action={<AllowButton session={session} network={first} destination={destination} />}
              />
            ))}
          </ul>
        )}
        {network.hasNextPage && (
          <div className="p-3">
            <Button disabled={network.isFetchingNextPage} onClick={() => void network.fetchNextPage()}>
              Show more
            </Button>
          </div>
        )}
      </div>
      <p className="border-t border-line px-3 py-1.5 text-xs text-faint tabular-nums">
        {counted(first.open_connections, "open connection")}, {bytesWords(first.transferred_bytes)}
        {first.most_bytes == null ? " in all" : ` of ${bytesWords(first.most_bytes)}`}
      </p>
    </section>
  );
}

interface AllowButtonProps {
  session: Session;
  network: SessionNetwork;
  destination: NetworkDestination;
}

/** Lets the owner put a blocked host on the session's list. */
function AllowButton({ session, network: { policy, ceiling }, destination }: AllowButtonProps) {
  const change = useChangeSession(session.id);
  const mayChange = session.right === "owner" && session.state !== "terminated";
  const hasList = policy.mode === "allow" && ceiling !== "allow";
  const rule = allowingRule(destination);
  const listed = policy.allow ?? [];
  if (!mayChange || !hasList || rule === null || listed.includes(rule)) return null;
  return (
    <span className="flex shrink-0 flex-col items-end gap-1">
      <Button
        aria-label={`Allow ${rule}`}
        disabled={change.isPending}
        onClick={() => change.mutate({ network: { ...policy, allow: [...listed, rule] } })}
      >
        Allow
      </Button>
      {change.error && <Notice>{messageOf(change.error)}</Notice>}
    </span>
  );
}

interface DestinationProps {
  destination: NetworkDestination;
  action: ReactNode;
}

function Destination({ destination, action }: DestinationProps) {
  const isBlocked = destination.blocked !== undefined;
  const Icon = isBlocked ? Ban : Globe;
  return (
    <li className="flex items-start gap-2.5 px-3 py-2">
      <Icon
        aria-label={isBlocked ? "Blocked" : "Contacted"}
        className={cx("mt-0.5 size-4 shrink-0", isBlocked ? "text-bad" : "text-faint")}
      />
      <div className="min-w-0 flex-1">
        <p className="font-mono text-[13px] [overflow-wrap:anywhere]">
          {visible(placeWords(destination))}
        </p>
        {destination.reason !== undefined && (
          <p className="text-xs text-soft">{sentence(destination.reason)}</p>
        )}
        <p className="flex flex-wrap gap-x-2 text-xs text-faint tabular-nums">
          {destination.connections > 0 && (
            <>
              <span>{counted(destination.connections, "connection")}</span>
              <span aria-label={`${bytesWords(destination.sent_bytes)} sent`}>
                ↑ {bytesWords(destination.sent_bytes)}
              </span>
              <span aria-label={`${bytesWords(destination.received_bytes)} received`}>
                ↓ {bytesWords(destination.received_bytes)}
              </span>
            </>
          )}
          {destination.blocked_connections > 0 && (
            <span>blocked {counted(destination.blocked_connections, "time")}</span>
          )}
        </p>
      </div>
      {action}
      <span className="shrink-0 text-xs text-faint">
        <TimeAgo at={destination.last_at} />
      </span>
    </li>
  );
}

function Loading() {
  return (
    <div role="status" aria-label="Loading" className="flex flex-col gap-2">
      <Skeleton className="h-8 w-40" />
      <Skeleton className="h-10 w-full" />
      <Skeleton className="h-10 w-full" />
    </div>
  );
}
