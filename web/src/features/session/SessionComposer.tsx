import { useState } from "react";

import { messageOf, useStanding } from "../../api/client";
import { useSendMessage } from "../../api/sessions";
import type { Delivery, Session, SessionState } from "../../api/types";
import { Composer } from "../../components/Composer";
import { type Spent, spentWords } from "../../lib/money";
import { includes } from "../../lib/rights";
import { AttachmentChips } from "../attachments/AttachmentChips";
import { useAttachments } from "../attachments/useAttachments";
import { ModelPicker } from "../models/ModelPicker";
import { useModelChoice } from "../models/useModelChoice";
import { DeliveryChoice } from "./DeliveryChoice";
import { SessionSpent } from "./SessionSpent";
import { useDraft } from "./useDraft";

/** The id of the field for messages. */
export const MESSAGE_FIELD = "session-message";

const PLACEHOLDERS: Record<Delivery, string> = {
  queue: "Add a message for later…",
  steer: "Steer the agent while it works…",
  interrupt: "Do this instead…",
};

/** Returns the reason why no message can be sent, if there is one. */
function whyBlocked(session: Session, state: SessionState): string | undefined {
  if (state === "terminated") return "This session has ended. Start a new one to go on.";
  if (!includes(session.right, "suggest")) {
    return "You may only view this session. Its owner can let you send messages.";
  }
  return undefined;
}

interface SessionComposerProps {
  session: Session;
  state: SessionState;
  spent: Spent;
  programs: Spent;
}

/** The field for messages to the session's agent, with the model and the delivery. */
export function SessionComposer({ session, state, spent, programs }: SessionComposerProps) {
  const draft = useDraft(session.id);
  const send = useSendMessage(session.id);
  const [delivery, setDelivery] = useState<Delivery>("queue");
  const isWorking = state === "running" || state === "waiting";
  const choice = useModelChoice(session);
  const attachments = useAttachments(session.id);
  const onSend = (text: string) => {
    // An idle agent takes any message at once.
    const how = isWorking ? delivery : "queue";
    const model = choice.forMessage === null ? {} : { model: choice.forMessage };
    const onSuccess = () => {
      draft.clearSent(text);
      attachments.clear();
      choice.sent();
    };
    send.mutate({ content: text, attachments: attachments.ids, delivery: how, ...model }, { onSuccess });
  };
  const problem = useStanding(send.error ?? choice.error);
  const mayChoose = includes(session.right, "drive") && state !== "terminated";
  return (
    <div className="shrink-0 border-t border-line px-4 pt-2.5 pb-[max(0.75rem,env(safe-area-inset-bottom))]">
      <div className="mx-auto max-w-3xl">
        <Composer
          fieldId={MESSAGE_FIELD}
          draft={draft.text}
          onDraft={draft.change}
          onSend={onSend}
          isSending={send.isPending}
          error={problem ? messageOf(problem) : undefined}
          blockedBecause={whyBlocked(session, state)}
          onFiles={attachments.add}
          attachments={<AttachmentChips attachments={attachments} />}
          isAttaching={attachments.waitsFor !== null}
          hasAttachments={attachments.list.length > 0}
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
            isWorking &&
            includes(session.right, "suggest") && (
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
