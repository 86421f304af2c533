import { MessageSquare } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";

import { cx } from "../../lib/cx";
import type { Panel } from "./panels";
import { CONVERSATION } from "./useWorkplace";

interface PhoneSwitcherProps {
  panels: readonly Panel[];
  view: string;
  /** The panels with something new in them. */
  marked: ReadonlySet<string>;
  /** Marks the conversation, because the agent waits there. */
  needsAnswer: boolean;
  onConversation: () => void;
  onPanel: (panel: string) => void;
}

/** The bar below a phone's page, which chooses the one thing to show. */
export function PhoneSwitcher(props: PhoneSwitcherProps) {
  const { panels, view, marked, needsAnswer, onConversation, onPanel } = props;
  const isTalking = view === CONVERSATION;
  return (
    <nav
      aria-label="Conversation and panels"
      className="flex shrink-0 [scrollbar-width:none] overflow-x-auto border-t border-line bg-surface px-0.5 pb-[env(safe-area-inset-bottom)]"
    >
      <Choice
        title="Conversation"
        icon={<MessageSquare aria-hidden className="size-5" />}
        isChosen={isTalking}
        mark={needsAnswer && !isTalking ? "Waiting for you" : null}
        onChoose={onConversation}
      />
      {panels.map(({ id, title, icon: Icon }) => (
        <Choice
          key={id}
          title={title}
          icon={<Icon aria-hidden className="size-5" />}
          isChosen={view === id}
          mark={marked.has(id) ? "Something new" : null}
          onChoose={() => onPanel(id)}
        />
      ))}
    </nav>
  );
}

interface ChoiceProps {
  title: string;
  icon: ReactNode;
  isChosen: boolean;
  /** The meaning of the dot, if there is one. */
  mark: string | null;
  onChoose: () => void;
}

function Choice({ title, icon, isChosen, mark, onChoose }: ChoiceProps) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isChosen) button.current?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [isChosen]);
  return (
    <button
      ref={button}
      type="button"
      aria-current={isChosen ? "true" : undefined}
      onClick={onChoose}
      className={cx(
        // All of them fit beside each other on a phone, so that none has to be found by scrolling.
        "relative flex h-13 min-w-9 shrink-0 grow flex-col items-center justify-center gap-0.5 px-0.5 text-[10px] leading-4 tracking-tight -outline-offset-2 min-[26rem]:px-1.5 min-[26rem]:text-[11px] min-[26rem]:tracking-normal",
        isChosen ? "font-medium text-accent" : "text-soft",
      )}
    >
      {icon}
      {title}
      {mark !== null && (
        <span className="absolute top-1.5 left-1/2 ml-2 size-2 rounded-full bg-warn ring-2 ring-surface">
          <span className="sr-only">{mark}</span>
        </span>
      )}
    </button>
  );
}
