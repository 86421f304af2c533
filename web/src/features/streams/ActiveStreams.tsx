import { Link } from "@tanstack/react-router";
import { ExternalLink, MonitorPlay } from "lucide-react";

import { messageOf } from "../../api/client";
import { useActiveStreams, useStopStream } from "../../api/streams";
import type { Stream } from "../../api/types";
import { ConfirmButton } from "../../components/ConfirmButton";
import { Notice } from "../../components/Notice";
import { Skeleton } from "../../components/Skeleton";
import { TimeAgo } from "../../components/TimeAgo";
import { useNow } from "../../lib/useNow";
import { StreamBadge } from "./StreamBadge";
import { placeOf, shortLink, watchedFor, watchersOf } from "./streamWords";

const TICK_MS = 1_000;

/** A link that looks like a button. */
const LINK_BUTTON =
  "inline-flex h-8 shrink-0 items-center justify-center gap-1.5 rounded-md border border-line-strong bg-surface px-3 text-[13px] font-medium whitespace-nowrap text-ink hover:bg-hover";

/** The streams that have not ended, each with a way to watch and to stop it. */
export function ActiveStreams() {
  const active = useActiveStreams();
  const stop = useStopStream();
  return (
    <section aria-labelledby="now-heading" className="flex flex-col gap-3">
      <h2 id="now-heading" className="text-base font-semibold">
        Now
      </h2>
      {stop.error && <Notice onDismiss={stop.reset}>{messageOf(stop.error)}</Notice>}
      {active.error && (
        <Notice>
          {active.data && "This list may be out of date. "}
          {messageOf(active.error)}
        </Notice>
      )}
      {active.isPending && <Skeleton className="h-20 w-full rounded-lg" />}
      {active.data?.length === 0 && (
        <p className="flex items-center gap-2.5 rounded-lg border border-dashed border-line-strong px-4 py-5 text-[13px] text-soft">
          <MonitorPlay aria-hidden className="size-5 shrink-0 text-faint" />
          Nothing is streaming. Somebody in a voice channel starts a stream by sending the bot a link.
        </p>
      )}
      {active.data && active.data.length > 0 && (
        <ul aria-label="Active streams" className="flex flex-col gap-2">
          {active.data.map((stream) => (
            <ActiveStream
              key={stream.id}
              stream={stream}
              isStopping={stop.isPending && stop.variables === stream.id}
              onStop={() => stop.mutate(stream.id)}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

interface ActiveStreamProps {
  stream: Stream;
  isStopping: boolean;
  onStop: () => void;
}

function ActiveStream({ stream, isStopping, onStop }: ActiveStreamProps) {
  const now = useNow(TICK_MS);
  const isStopped = isStopping || stream.state === "stopping";
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-3 rounded-lg border border-line bg-surface px-4 py-3">
      <div className="flex min-w-60 flex-1 flex-col gap-1">
        <div className="flex items-center gap-2.5">
          <StreamBadge state={stream.state} />
          <a
            href={stream.url}
            target="_blank"
            rel="noreferrer"
            title={stream.url}
            className="min-w-0 truncate font-medium underline-offset-2 hover:underline"
          >
            {shortLink(stream.url)}
          </a>
        </div>
        <div className="text-[13px] text-soft">
          {placeOf(stream)}
          <span className="text-faint">
            {" · "}
            {stream.started_at === null ? (
              <>
                requested <TimeAgo at={stream.created_at} />
              </>
            ) : (
              `for ${watchedFor(stream, now)}${watchersOf(stream)}`
            )}
          </span>
        </div>
      </div>
      <div className="flex flex-wrap gap-2">
        {stream.watch_url !== null && (
          <a href={stream.watch_url} target="_blank" rel="noreferrer" className={LINK_BUTTON}>
            <ExternalLink aria-hidden className="size-4" /> Watch
          </a>
        )}
        {stream.session !== null && (
          <Link to="/sessions/$sessionId" params={{ sessionId: stream.session }} className={LINK_BUTTON}>
            Open the session
          </Link>
        )}
        <ConfirmButton
          aria-label={`Stop the stream in ${stream.channel_name}`}
          disabled={isStopped}
          title="Stop this stream?"
          explanation={`It ends for everybody in ${stream.channel_name}, and its watch link with it. The bot tells the person who asked for it.`}
          confirmLabel="Stop the stream"
          onConfirm={onStop}
        >
          {isStopped ? "Stopping…" : "Stop"}
        </ConfirmButton>
      </div>
    </li>
  );
}
