import { ArrowDown, LoaderCircle, MessageSquare } from "lucide-react";
import { useState } from "react";

import type { Connection } from "../../api/stream";
import type { Right, SessionState } from "../../api/types";
import { Button } from "../../components/Button";
import { Placeholder } from "../../components/Placeholder";
import { Skeleton } from "../../components/Skeleton";
import { includes } from "../../lib/rights";
import { withoutAsked } from "./decisionItems";
import { HeldBar } from "./HeldBar";
import { ItemView } from "./ItemView";
import type { Item, PromptItem } from "./items";
import { Lightbox } from "./Lightbox";
import { Plan } from "./Plan";
import type { Timeline } from "./timeline";
import { RetryNote } from "./RetryNote";
import { partsOf } from "./steps";
import { useStickToBottom } from "./useStickToBottom";
import { TryAgain } from "./TryAgain";
import { Waiting } from "./Waiting";
import { WorkView } from "./WorkView";

interface ConversationProps {
  sessionId: string;
  timeline: Timeline;
  state: SessionState;
  /** The session's model. */
  model: string;
  connection: Connection;
  /** True while the history is still loading. */
  isLoading: boolean;
  /** The names of the people who have a right in the session, by id. */
  names: ReadonlyMap<string, string>;
  /** A note about the person whom the agent waits for while that person has control. */
  waitingNote: string | undefined;
  /** The user's right in the session. */
  right: Right;
  /** The user's id, once it is known. */
  me: string | undefined;
}

/** Shows everything that was said and done, oldest first, scrolled to the newest. */
export function Conversation(props: ConversationProps) {
  const { timeline, state, connection, isLoading } = props;
  const { scroller, content, isAtBottom, scrollToBottom } = useStickToBottom();
  const [openShot, setOpenShot] = useState<number | null>(null);
  const [seenSeq, setSeenSeq] = useState(0);
  if (isAtBottom && seenSeq !== timeline.lastSeq) setSeenSeq(timeline.lastSeq);
  const isEmpty = timeline.items.length === 0 && timeline.waiting.length === 0;

  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      <Plan plan={timeline.newest.plan} />
      <div
        ref={scroller}
        role="log"
        aria-label="Conversation"
        // While the agent's text streams in, screen readers wait for the whole.
        aria-busy={isLoading || state === "running"}
        // It can be scrolled with the keyboard too.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        className="min-h-0 flex-1 overflow-y-auto overscroll-contain -outline-offset-2"
      >
        <div ref={content} className="mx-auto max-w-3xl px-4 py-4">
          {isLoading ? (
            <ConversationSkeleton />
          ) : isEmpty ? (
            <Placeholder icon={<MessageSquare aria-hidden />} title="No messages yet">
              Write below what the agent should do.
            </Placeholder>
          ) : (
            <Entries {...props} onOpenShot={setOpenShot} />
          )}
        </div>
      </div>
      <div className="pointer-events-none absolute inset-x-0 bottom-2 flex flex-col items-center gap-2 [&>*]:pointer-events-auto">
        {!isAtBottom && seenSeq < timeline.lastSeq && (
          <Button className="animate-appear rounded-full! shadow-lift" onClick={scrollToBottom}>
            <ArrowDown aria-hidden className="size-4" /> New messages
          </Button>
        )}
        <ConnectionNote connection={connection} />
      </div>
      <Lightbox shots={timeline.shots} openId={openShot} onOpen={setOpenShot} />
    </div>
  );
}

interface EntriesProps extends ConversationProps {
  onOpenShot: (id: number) => void;
}

function Entries(props: EntriesProps) {
  const { sessionId, timeline, state, names, onOpenShot } = props;
  const authorOf = authorsOf(timeline, names);
  const last = timeline.items.at(-1);
  const isWorking = state === "running";
  // Nothing on the page moves between two steps. This shows that the agent is still working.
  const { retry } = timeline;
  const isPondering =
    isWorking && retry === null && last?.kind !== "thinking" && !(last?.kind === "call" && last.state === "running");
  // An error without costs is not the end of a turn.
  const hasFailed = last?.kind === "error" && last.spent !== undefined;
  const view = (item: Item) => (
    <ItemView
      key={item.id}
      item={item}
      sessionId={sessionId}
      right={props.right}
      author={authorOfItem(item, authorOf, names, props.me)}
      isGrowing={isWorking && item === last}
      onOpenShot={onOpenShot}
    />
  );
  return (
    <div className="flex flex-col gap-2.5">
      {partsOf(withoutAsked(timeline.items)).map((part) =>
        part.kind === "item" ? (
          view(part.item)
        ) : (
          <WorkView
            key={part.work.id}
            work={part.work}
            isGoingOn={isWorking && part.work.items.at(-1) === last}
            onOpenShot={onOpenShot}
          >
            {part.work.items.map(view)}
          </WorkView>
        ),
      )}
      {hasFailed && state === "idle" && includes(props.right, "suggest") && (
        <TryAgain key={last.id} sessionId={sessionId} />
      )}
      {isPondering && (
        <div className="flex animate-appear-late items-center gap-2 text-[13px] text-faint">
          <LoaderCircle aria-hidden className="size-3.5 animate-spin text-accent" />{" "}
          {props.waitingNote ?? "Working…"}
        </div>
      )}
      {isWorking && retry !== null && <RetryNote retry={retry} />}
      <HeldBar
        sessionId={sessionId}
        waiting={timeline.waiting}
        state={state}
        right={props.right}
      />
      <Waiting
        sessionId={sessionId}
        waiting={timeline.waiting}
        state={state}
        model={props.model}
        right={props.right}
        me={props.me}
        authorOf={authorOf}
      />
    </div>
  );
}

/** Returns the person behind an item: its author, or whoever decided. */
function authorOfItem(
  item: Item,
  authorOf: (item: PromptItem) => string | undefined,
  names: ReadonlyMap<string, string>,
  me: string | undefined,
): string | undefined {
  if (item.kind === "prompt") return authorOf(item);
  if (item.kind === "decision" && item.settled?.by !== undefined) return names.get(item.settled.by);
  if (item.kind !== "call" || item.refusedBy === undefined) return undefined;
  return item.refusedBy === me ? "you" : names.get(item.refusedBy);
}

/** Returns a function for the author of a message, if more than one person takes part. */
function authorsOf(timeline: Timeline, names: ReadonlyMap<string, string>) {
  const prompts = [...timeline.items, ...timeline.waiting].filter((item) => item.kind === "prompt");
  const n_authors = new Set(prompts.map(({ author }) => author)).size;
  const isShared = names.size > 1 || n_authors > 1;
  return ({ author, authorName }: PromptItem): string | undefined => {
    if (!isShared || author === undefined) return undefined;
    return names.get(author) ?? authorName ?? "Somebody who left";
  };
}

function ConnectionNote({ connection }: { connection: Connection }) {
  return (
    <div role="status">
      {connection === "reconnecting" && (
        <div className="flex animate-appear items-center gap-2 rounded-full border border-line-strong bg-raised px-3 py-1.5 text-[13px] text-warn shadow-lift">
          <LoaderCircle aria-hidden className="size-3.5 animate-spin" /> Reconnecting…
        </div>
      )}
    </div>
  );
}

function ConversationSkeleton() {
  return (
    <div role="status" aria-label="Loading the conversation" className="flex flex-col gap-3">
      <Skeleton className="h-9 w-3/5 self-end rounded-2xl" />
      <Skeleton className="h-4 w-4/5" />
      <Skeleton className="h-4 w-2/3" />
      <Skeleton className="h-10 w-full" />
      <Skeleton className="h-10 w-full" />
      <Skeleton className="h-4 w-1/2" />
    </div>
  );
}
