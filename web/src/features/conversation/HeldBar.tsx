import { CirclePause } from "lucide-react";

import { messageOf } from "../../api/client";
import { useChangeMessage, useClearHeld } from "../../api/sessions";
import type { Right, SessionState } from "../../api/types";
import { Button } from "../../components/Button";
import { Notice } from "../../components/Notice";
import { includes } from "../../lib/rights";
import { counted } from "../../lib/text";
import type { PromptItem } from "./items";
import { inOrder } from "./waitingItems";

interface HeldBarProps {
  sessionId: string;
  waiting: readonly PromptItem[];
  state: SessionState;
  right: Right;
}

/** Offers the messages that are held since somebody stopped the agent. */
export function HeldBar(props: HeldBarProps) {
  const held = inOrder(props.waiting.filter(({ isHeld }) => isHeld));
  const [next] = held;
  if (next === undefined || props.state === "terminated") return null;
  return <Offer key={next.message} {...props} next={next.message} nHeld={held.length} />;
}

interface OfferProps extends HeldBarProps {
  /** The id of the message that is next. */
  next: string;
  nHeld: number;
}

function Offer({ sessionId, state, right, next, nHeld }: OfferProps) {
  const release = useChangeMessage(sessionId, next);
  const clear = useClearHeld(sessionId);
  const isWorking = state === "running" || state === "waiting";
  const problem = release.error ?? clear.error;
  const isBusy = release.isPending || clear.isPending;
  const [is, it] = nHeld === 1 ? ["is", "it"] : ["are", "them"];
  const count = `${counted(nHeld, "message")} ${is} waiting`;
  return (
    <>
      <section
        aria-label="Messages that are held"
        className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border border-line bg-sunken px-3 py-2"
      >
        <CirclePause aria-hidden className="size-4 shrink-0 text-faint" />
        <p role="status" className="min-w-40 flex-1 text-[13px]">
          {isWorking ? `${count} until somebody sends ${it}.` : `Stopped. ${count}.`}
        </p>
        {includes(right, "drive") && (
          <div className="flex gap-2">
            <Button disabled={isBusy} onClick={() => release.mutate({ held: false })}>
              Send next
            </Button>
            <Button look="ghost" disabled={isBusy} onClick={() => clear.mutate()}>
              Clear
            </Button>
          </div>
        )}
      </section>
      {problem && <Notice>{messageOf(problem)}</Notice>}
    </>
  );
}
