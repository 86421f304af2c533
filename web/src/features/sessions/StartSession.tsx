import { useNavigate } from "@tanstack/react-router";
import { ScrollText, Sparkles } from "lucide-react";
import { useState } from "react";

import { isCode, messageOf, useStanding } from "../../api/client";
import { useStartSession } from "../../api/sessions";
import type { ComputerKind, Effort } from "../../api/types";
import { Button } from "../../components/Button";
import { Composer } from "../../components/Composer";
import { START_FIELD } from "../account/Navigation";
import { AttachmentChips } from "../attachments/AttachmentChips";
import { useAttachments } from "../attachments/useAttachments";
import { InstructionsField } from "../models/Instructions";
import { ModelPicker } from "../models/ModelPicker";
import { NEW_SESSION, useDraft } from "../session/useDraft";
import { AwakeSessions } from "./AwakeSessions";
import { ComputerPicker } from "./ComputerPicker";

const EXAMPLES = ["Show me the demo"];
const PLACES: Record<ComputerKind, string> = { desktop: "on a desktop", browser: "in a browser" };

/** The form that starts a session with a task for the agent. */
export function StartSession() {
  const draft = useDraft(NEW_SESSION);
  const [model, setModel] = useState<string | null>(null);
  const [effort, setEffort] = useState<Effort | null>(null);
  const [computer, setComputer] = useState<ComputerKind>("desktop");
  const [instructions, setInstructions] = useState<string | null>(null);
  const start = useStartSession();
  const problem = useStanding(start.error);
  const attachments = useAttachments(null);
  const navigate = useNavigate();
  const send = (content: string, kind = computer) =>
    start.mutate(
      {
        content,
        upload: attachments.upload,
        computer: kind,
        ...(model !== null && { model }),
        ...(effort !== null && { effort }),
        ...(instructions !== null && { instructions: instructions.trim() }),
      },
      {
        onSuccess: (session) => {
          draft.clearSent(content);
          void navigate({ to: "/sessions/$sessionId", params: { sessionId: session.id } });
        },
      },
    );

  return (
    <section aria-labelledby="start-heading">
      <h1 id="start-heading" className="mb-3 text-xl font-semibold tracking-tight">
        What should the agent do?
      </h1>
      <Composer
        fieldId={START_FIELD}
        draft={draft.text}
        onDraft={draft.change}
        onSend={(content) => send(content)}
        isSending={start.isPending}
        onFiles={attachments.add}
        attachments={<AttachmentChips attachments={attachments} />}
        isAttaching={attachments.waitsFor !== null}
        hasAttachments={attachments.list.length > 0}
        error={
          problem ? (
            <>
              {messageOf(problem)}
              {isCode(problem, "too_many_awake") && <AwakeSessions />}
            </>
          ) : undefined
        }
        placeholder={`Describe the work. The agent does it ${PLACES[computer]} of its own, and you can watch.`}
        isTall
        tools={
          <>
            <ModelPicker
              value={model}
              onChange={setModel}
              effort={{ value: effort, onChange: setEffort }}
            />
            <ComputerPicker value={computer} onChange={setComputer} />
            <Button
              look="ghost"
              aria-expanded={instructions !== null}
              onClick={() => setInstructions(instructions === null ? "" : null)}
            >
              <ScrollText aria-hidden className="size-3.5 text-faint" /> Instructions
            </Button>
          </>
        }
      />
      {instructions !== null && (
        <div className="mt-2.5 flex flex-col gap-1.5">
          <p className="text-[13px] text-soft">Rules that the agent follows throughout the session.</p>
          <InstructionsField value={instructions} onChange={setInstructions} />
        </div>
      )}
      <div className="mt-2.5 flex flex-wrap gap-2">
        {EXAMPLES.map((example) => (
          <button
            key={example}
            type="button"
            disabled={start.isPending}
            // The demo shows a desktop.
            onClick={() => send(example, "desktop")}
            className="inline-flex h-7 items-center gap-1.5 rounded-full border border-line-strong bg-surface px-3 text-[13px] text-soft hover:bg-hover hover:text-ink disabled:opacity-50"
          >
            <Sparkles aria-hidden className="size-3.5 text-accent" />
            {example}
          </button>
        ))}
      </div>
    </section>
  );
}
