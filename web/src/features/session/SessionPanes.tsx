import { type CSSProperties, useRef, useState } from "react";

import { useMe } from "../../api/account";
import { messageOf } from "../../api/client";
import { useNames } from "../../api/people";
import { useSendMessage } from "../../api/sessions";
import type { Connection } from "../../api/stream";
import type { Delivery, SandboxState, Session, SessionState } from "../../api/types";
import { Composer } from "../../components/Composer";
import { Splitter } from "../../components/Splitter";
import { type Spent, spentWords } from "../../lib/money";
import { includes } from "../../lib/rights";
import { readStored, writeStored } from "../../lib/stored";
import { Conversation } from "../conversation/Conversation";
import type { Timeline } from "../conversation/timeline";
import { ModelPicker } from "../models/ModelPicker";
import { useModelChoice } from "../models/useModelChoice";
import { controlOf, type HeldLease, waitingWords } from "../screen/control";
import { DeliveryChoice } from "./DeliveryChoice";
import { SessionScreen } from "./SessionScreen";
import { SessionSpent } from "./SessionSpent";

interface SessionPanesProps {
  session: Session;
  state: SessionState;
  sandbox: SandboxState;
  timeline: Timeline;
  /** The person who has control, if any. */
  lease: HeldLease | null;
  connection: Connection;
  /** The usage of the session's models. */
  spent: Spent;
  isLoading: boolean;
}

const PLACEHOLDERS: Record<Delivery, string> = {
  queue: "Add something for later…",
  steer: "Tell it while it works…",
  interrupt: "Tell it to do this instead…",
};

const SPLIT_KEY = "deskhand.split";
const SPLIT = { usual: 36, min: 28, max: 65 };

/** The conversation beside the screen, or below it on narrow displays. */
export function SessionPanes(props: SessionPanesProps) {
  const { session, state, sandbox, timeline } = props;
  const names = useNames(session.id);
  const { data: me } = useMe({ enabled: true });
  const control = controlOf(props.lease, state, me?.id);
  const container = useRef<HTMLElement>(null);
  const [split, setSplit] = useState(() => Number(readStored(SPLIT_KEY)) || SPLIT.usual);
  const changeSplit = (value: number) => {
    setSplit(value);
    writeStored(SPLIT_KEY, String(value));
  };

  return (
    <main
      ref={container}
      style={{ "--split": `${split}%` } as CSSProperties}
      className="flex min-h-0 flex-1 flex-col lg:grid lg:grid-cols-[minmax(22rem,var(--split))_auto_minmax(0,1fr)]"
    >
      <section
        aria-label="Messages"
        className="order-2 flex min-h-0 flex-1 flex-col bg-surface lg:order-none"
      >
        <Conversation
          sessionId={session.id}
          timeline={timeline}
          state={state}
          model={session.model}
          connection={props.connection}
          isLoading={props.isLoading}
          names={names}
          waitingNote={waitingWords(control)}
          right={session.right}
          me={me?.id}
        />
        <SessionComposer
          session={session}
          state={state}
          spent={props.spent}
          programs={timeline.programsSpent}
        />
      </section>
      <Splitter
        label="Width of the conversation"
        value={split}
        min={SPLIT.min}
        max={SPLIT.max}
        container={container}
        onChange={changeSplit}
        className="hidden lg:block"
      />
      <div className="order-1 min-h-0 shrink-0 border-b border-line lg:order-none lg:border-b-0">
        <SessionScreen
          session={session}
          state={state}
          sandbox={sandbox}
          timeline={timeline}
          control={control}
          me={me?.id}
        />
      </div>
    </main>
  );
}

/** Returns the reason why no message can be sent, if there is one. */
function whyBlocked(session: Session, state: SessionState): string | undefined {
  if (state === "terminated") return "This session has ended. Start a new one to go on.";
  if (!includes(session.right, "suggest")) {
    return "You may view this session. Its owner can let you send messages.";
  }
  return undefined;
}

interface SessionComposerProps {
  session: Session;
  state: SessionState;
  spent: Spent;
  programs: Spent;
}

function SessionComposer({ session, state, spent, programs }: SessionComposerProps) {
  const [draft, setDraft] = useState("");
  const send = useSendMessage(session.id);
  const [delivery, setDelivery] = useState<Delivery>("queue");
  const isWorking = state === "running" || state === "waiting";
  const choice = useModelChoice(session);
  const onSend = (content: string) => {
    // An idle agent takes any message at once.
    const how = isWorking ? delivery : "queue";
    const model = choice.forMessage === null ? {} : { model: choice.forMessage };
    const onSuccess = () => {
      setDraft("");
      choice.sent();
    };
    send.mutate({ content, delivery: how, ...model }, { onSuccess });
  };
  const problem = send.error ?? choice.error;
  const mayChoose = includes(session.right, "drive") && state !== "terminated";
  return (
    <div className="shrink-0 border-t border-line px-4 pt-2.5 pb-[max(0.75rem,env(safe-area-inset-bottom))]">
      <div className="mx-auto max-w-3xl">
        <Composer
          draft={draft}
          onDraft={setDraft}
          onSend={onSend}
          isSending={send.isPending}
          error={problem ? messageOf(problem) : undefined}
          blockedBecause={whyBlocked(session, state)}
          placeholder={isWorking ? PLACEHOLDERS[delivery] : "Message the agent…"}
          tools={
            (mayChoose || spentWords(spent) !== null) && (
              <>
                {mayChoose && <ModelPicker {...choice.picker} />}
                <SessionSpent
                  isBrief
                  session={session}
                  spent={spent}
                  programs={programs}
                  className="px-2 text-[13px] text-soft sm:hidden"
                />
              </>
            )
          }
          choice={
            isWorking && (
              <DeliveryChoice
                mayInterrupt={includes(session.right, "drive")}
                value={delivery}
                onChange={setDelivery}
              />
            )
          }
        />
      </div>
    </div>
  );
}
