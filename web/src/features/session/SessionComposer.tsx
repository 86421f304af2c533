import { useState } from "react";

import { messageOf, useStanding } from "../../api/client";
import { useAnswer } from "../../api/decisions";
import { useSendMessage } from "../../api/sessions";
import type { DecisionData, Delivery, Session, SessionState } from "../../api/types";
import { Composer } from "../../components/Composer";
import { type Spent, spentWords } from "../../lib/money";
import { includes } from "../../lib/rights";
import { AttachmentChips } from "../attachments/AttachmentChips";
import { useAttachments } from "../attachments/useAttachments";
import { ModelPicker } from "../models/ModelPicker";
import { useModelChoice } from "../models/useModelChoice";
import { DeliveryChoice, type MessageUse } from "./DeliveryChoice";
import { SessionSpent } from "./SessionSpent";
import { useDraft } from "./useDraft";

/** The id of the field for messages. */
export const MESSAGE_FIELD = "session-message";

const PLACEHOLDERS: Record<MessageUse, string> = {
  answer: "Answer the question…",
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
  /** The question that the agent waits with. A message answers it, unless it is to be delivered in another way. */
  question: DecisionData | undefined;
}

/** The field for messages to the session's agent, with the model and the delivery. */
export function SessionComposer(props: SessionComposerProps) {
  const { session, state, spent, programs, question } = props;
  const draft = useDraft(session.id);
  const send = useSendMessage(session.id);
  const [delivery, setDelivery] = useState<Delivery>("queue");
  /** The question that is left to its own form. */
  const [leftQuestion, setLeftQuestion] = useState<string | null>(null);
  const answer = useAnswer(session.id, question?.decision ?? "");
  const isWorking = state === "running" || state === "waiting";
  const choice = useModelChoice(session);
  const attachments = useAttachments(session.id);
  // Files go with messages only.
  const mayAnswer = question !== undefined && attachments.list.length === 0;
  const isAnswer = mayAnswer && leftQuestion !== question.decision;
  const use = isAnswer ? "answer" : delivery;
  const onUse = (wanted: MessageUse) => {
    setLeftQuestion(wanted === "answer" ? null : (question?.decision ?? null));
    if (wanted !== "answer") setDelivery(wanted);
  };
  const onSend = (text: string) => {
    if (isAnswer) {
      send.reset();
      answer.mutate({ text }, { onSuccess: () => draft.clearSent(text) });
      return;
    }
    // An idle agent takes any message at once.
    const how = isWorking ? delivery : "queue";
    const onSuccess = () => {
      draft.clearSent(text);
      attachments.clear();
      choice.sent();
    };
    answer.reset();
    send.mutate(
      { content: text, attachments: attachments.ids, delivery: how, ...choice.forMessage },
      { onSuccess },
    );
  };
  const problem = useStanding(send.error ?? answer.error ?? choice.error);
  const mayChoose = includes(session.right, "drive") && state !== "terminated";
  return (
    <div className="shrink-0 border-t border-line px-4 pt-2.5 pb-[max(0.75rem,env(safe-area-inset-bottom))]">
      <div className="mx-auto max-w-3xl">
        <Composer
          fieldId={MESSAGE_FIELD}
          draft={draft.text}
          onDraft={draft.change}
          onSend={onSend}
          isSending={send.isPending || answer.isPending}
          error={problem ? messageOf(problem) : undefined}
          blockedBecause={whyBlocked(session, state)}
          onFiles={attachments.add}
          attachments={<AttachmentChips attachments={attachments} />}
          isAttaching={attachments.waitsFor !== null}
          hasAttachments={attachments.list.length > 0}
          placeholder={isWorking ? PLACEHOLDERS[use] : "Message the agent…"}
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
                mayAnswer={mayAnswer}
                value={use}
                onChange={onUse}
              />
            )
          }
        />
      </div>
    </div>
  );
}
