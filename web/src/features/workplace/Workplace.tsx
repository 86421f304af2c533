import { type CSSProperties, type ReactNode, useEffect, useRef, useState } from "react";

import { Splitter } from "../../components/Splitter";
import { cx } from "../../lib/cx";
import { useCommands } from "../commands/command";
import type { PanelProps } from "./panel";
import { PanelArea } from "./PanelArea";
import { panelCommands } from "./panelCommands";
import type { Panel } from "./panels";
import { PhoneSwitcher } from "./PhoneSwitcher";
import { CONVERSATION_WIDTH } from "./savedLayout";
import { ShowPanelContext } from "./showPanel";
import type { RemoteLayout } from "./useArrangement";
import { type PanelNews, useMarks } from "./useMarks";
import { useWorkplace, type WorkplaceActions } from "./useWorkplace";

interface WorkplaceProps {
  /** The user's id. Each user has a layout of their own. */
  user: string;
  /** The layout on the server. */
  remote: RemoteLayout;
  panels: readonly Panel[];
  panelProps: PanelProps;
  /** The bar above everything. */
  header: ReactNode;
  conversation: ReactNode;
  /** The id of the field for messages in `conversation`. */
  messageField: string;
  /** True if the agent waits for an answer in the conversation. */
  needsAnswer: boolean;
  /** New things in panels that are not visible, which get a dot. */
  news: PanelNews;
  /** The panel that the address asks for. */
  wanted?: string | undefined;
}

/**
 * The conversation beside the panels, or one of them at a time on a phone.
 *
 * The conversation and the panels keep their places in the document whatever the layout is. Only
 * their rectangles and their visibility change, so nothing reloads.
 */
export function Workplace(props: WorkplaceProps) {
  const { panels, messageField, needsAnswer, wanted } = props;
  const workplace = useWorkplace(props.user, panels, props.remote);
  const { arrangement, isPhone, isConversationVisible, actions } = workplace;
  const container = useRef<HTMLElement>(null);
  const [isResizing, setIsResizing] = useState(false);
  const marked = useMarks(props.news, workplace.visible);
  useWantedPanel(wanted, panels, actions.show);
  const isBeside = !isPhone && isConversationVisible;
  const toMessage = () => {
    actions.showConversation();
    // The conversation becomes visible with the next render.
    requestAnimationFrame(() => document.getElementById(messageField)?.focus());
  };
  useCommands(panelCommands({ workplace, panels, toMessage }));

  return (
    <ShowPanelContext value={actions.show}>
      <a
        href={`#${messageField}`}
        onClick={(event) => {
          event.preventDefault();
          toMessage();
        }}
        className="sr-only z-40 rounded-md bg-raised px-3 py-1.5 text-[13px] shadow-over focus:not-sr-only focus:absolute focus:top-2 focus:left-2"
      >
        Skip to the message
      </a>
      {props.header}
      <main
        ref={container}
        style={{ "--split": `${arrangement.conversation}%` } as CSSProperties}
        className={cx(
          "grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)]",
          isBeside
            ? "grid-cols-[minmax(20rem,var(--split))_auto_minmax(0,1fr)]"
            : "grid-cols-[minmax(0,1fr)]",
        )}
      >
        <section
          aria-label="Messages"
          className={cx(
            "col-start-1 row-start-1 flex min-h-0 min-w-0 flex-col bg-surface",
            !isConversationVisible && "invisible",
          )}
        >
          {props.conversation}
        </section>
        {isBeside && (
          <Splitter
            label="Width of the conversation"
            value={arrangement.conversation}
            min={CONVERSATION_WIDTH.min}
            max={CONVERSATION_WIDTH.max}
            container={container}
            onChange={actions.resizeConversation}
            onDrag={setIsResizing}
            className="relative z-10 col-start-2 row-start-1"
          />
        )}
        <PanelArea
          workplace={workplace}
          marked={marked}
          panels={panels}
          panelProps={props.panelProps}
          isResizing={isResizing}
          className={isBeside ? "col-start-3 row-start-1" : "col-start-1 row-start-1"}
        />
      </main>
      {isPhone && (
        <PhoneSwitcher
          panels={panels}
          view={workplace.phoneView}
          marked={marked}
          needsAnswer={needsAnswer}
          onConversation={actions.showConversation}
          onPanel={actions.show}
        />
      )}
    </ShowPanelContext>
  );
}

/** Shows the panel that the address asks for, once. */
function useWantedPanel(wanted: string | undefined, panels: readonly Panel[], show: WorkplaceActions["show"]): void {
  const done = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (wanted === done.current) return;
    done.current = wanted;
    if (wanted !== undefined && panels.some(({ id }) => id === wanted)) show(wanted);
  }, [wanted, panels, show]);
}
