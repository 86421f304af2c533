import { Brain, ChevronRight, ScrollText, TriangleAlert } from "lucide-react";
import { memo, type ReactNode } from "react";

import type { Right } from "../../api/types";
import { Markdown } from "../../components/Markdown";
import { cx } from "../../lib/cx";
import { spentWords } from "../../lib/money";
import { counted, sentence } from "../../lib/text";
import { formatDuration, formatMoment } from "../../lib/time";
import { AttachmentCards } from "../attachments/AttachmentCards";
import { shortName } from "../models/modelWords";
import { DecisionCard } from "../decisions/DecisionCard";
import { ArtifactCard } from "./ArtifactCard";
import { CallCard } from "./CallCard";
import type { CompleteItem, ErrorItem, Item, PromptItem, SaidItem } from "./items";
import { leaseWords } from "./leaseWords";
import { ShotThumb } from "./ShotThumb";
import { statusWords } from "./statusWords";

interface ItemViewProps {
  item: Item;
  sessionId: string;
  /** The user's right in the session. */
  right: Right;
  /** The person who wrote, answered or refused it, if that should be shown. */
  author?: string | undefined;
  /** True if more of it may still arrive. */
  isGrowing: boolean;
  onOpenShot: (id: number) => void;
}

/** One entry of the conversation. */
export const ItemView = memo(function ItemView(props: ItemViewProps) {
  const { item, sessionId, right, author, isGrowing, onOpenShot } = props;
  switch (item.kind) {
    case "prompt":
      return (
        <Prompt
          text={item.text}
          at={item.at}
          author={author}
          files={<AttachmentCards sessionId={sessionId} files={item.files} />}
          footer={promptNote(item)}
        />
      );
    case "text":
    case "answer":
      return item.text.trim() === "" ? null : <Markdown text={item.text} />;
    case "thinking":
      return <Thinking item={item} isGrowing={isGrowing} />;
    case "call":
      return <CallCard item={item} refusedBy={author} onOpenShot={onOpenShot} />;
    case "shot":
      return (
        <ShotThumb
          shot={item.shot}
          onOpen={onOpenShot}
          className="w-56 max-w-full rounded-lg border border-line"
        />
      );
    case "decision":
      return (
        <DecisionCard
          sessionId={sessionId}
          asked={{
            ...item.asked,
            id: item.asked.decision,
            expiresAt: item.asked.expires_at,
            state: item.settled?.state ?? "open",
            answer: item.settled?.answer,
            answeredBy: author,
            settledAt: item.settled?.at,
          }}
          right={right}
        />
      );
    case "status":
      return (
        <Line
          at={item.at}
          tone={item.state === "error" || item.sandbox === "lost" ? "bad" : "quiet"}
        >
          {statusWords(item)}
        </Line>
      );
    case "lease":
      return <Line at={item.at}>{leaseWords(item.data)}</Line>;
    case "fallback":
      return (
        <Line at={item.at}>
          {sentence(item.message)} Going on with {item.model}.
        </Line>
      );
    case "model":
      return (
        <Line at={item.at}>
          {item.byName} changed the model to {item.model}
        </Line>
      );
    case "handed_over":
      return (
        <Line at={item.at}>
          {item.toName} accepted the session from {item.fromName} and is its owner
        </Line>
      );
    case "notice":
      return (
        <Line at={item.at} tone="warning">
          {item.message}
        </Line>
      );
    case "summary":
      return <Summary at={item.at} text={item.text} />;
    case "opened":
      return item.problem === undefined ? (
        <Line at={item.at}>Opened {item.url}</Line>
      ) : (
        <Line at={item.at} tone="warning">
          Could not open {item.url}: {item.problem}
        </Line>
      );
    case "artifact":
      return <ArtifactCard item={item} sessionId={sessionId} />;
    case "error":
      return <Failure item={item} />;
    case "complete":
      return <Line at={item.at}>{completeWords(item)}</Line>;
  }
});

interface PromptProps {
  text: string;
  at: string;
  author?: string | undefined;
  isWaiting?: boolean;
  /** The files that came with it. */
  files?: ReactNode;
  footer?: ReactNode;
}

export function Prompt({ text, at, author, isWaiting = false, files, footer }: PromptProps) {
  return (
    <div className="flex flex-col items-end gap-1 pt-2">
      {author !== undefined && <div className="text-xs font-medium text-soft">{author}</div>}
      {files}
      {text !== "" && (
        <div
          dir="auto"
          title={formatMoment(at)}
          className={cx(
            "max-w-[88%] rounded-2xl rounded-br-md bg-accent-soft px-3.5 py-2 whitespace-pre-wrap [overflow-wrap:anywhere]",
            isWaiting && "border border-dashed border-line-strong bg-transparent text-soft",
          )}
        >
          {text}
        </div>
      )}
      {footer !== undefined && (
        <div className="flex items-center gap-1 text-xs text-faint">{footer}</div>
      )}
    </div>
  );
}

/** Returns a note if a message was handled in a special way. */
function promptNote({ isSteering, model }: PromptItem): string | undefined {
  if (isSteering) return "Sent to the agent while it worked";
  return model === undefined ? undefined : `With ${shortName(model)}`;
}

function Summary({ at, text }: { at: string; text: string | undefined }) {
  if (text === undefined) {
    return <Line at={at}>Old results were shortened for the model, because the conversation became long</Line>;
  }
  return (
    <details className="group text-[13px]">
      <summary className="-mx-1 inline-flex list-none items-center gap-1.5 rounded px-1 text-faint hover:text-ink">
        <ScrollText aria-hidden className="size-3.5" />
        The conversation became long, so the model goes on with a summary
        <ChevronRight aria-hidden className="size-3.5 transition-transform group-open:rotate-90" />
      </summary>
      <div className="mt-1.5 border-l-2 border-line pl-3 text-soft">
        <Markdown text={text} />
      </div>
    </details>
  );
}

function Thinking({ item, isGrowing }: { item: SaidItem; isGrowing: boolean }) {
  const isThinking = isGrowing && item.isCut !== true;
  const tookMs = Date.parse(item.lastAt) - Date.parse(item.at);
  const thought = tookMs >= 1000 ? `Thought for ${formatDuration(tookMs)}` : "Thought";
  const done = item.isCut === true ? `${thought}, cut off` : thought;
  return (
    <details className="group text-[13px]">
      <summary className="-mx-1 inline-flex list-none items-center gap-1.5 rounded px-1 text-faint hover:text-ink">
        <Brain
          aria-hidden
          className={cx("size-3.5", isThinking && "animate-pulse-dot text-accent")}
        />
        {isThinking ? "Thinking…" : done}
        <ChevronRight aria-hidden className="size-3.5 transition-transform group-open:rotate-90" />
      </summary>
      <div className="mt-1.5 border-l-2 border-line pl-3 text-soft">
        <Markdown text={item.text} />
      </div>
    </details>
  );
}

const TONES = { quiet: "text-faint", warning: "text-warn", bad: "text-bad" };

function Line({
  at,
  tone = "quiet",
  children,
}: {
  at: string;
  tone?: keyof typeof TONES;
  children: ReactNode;
}) {
  return (
    <div
      title={formatMoment(at)}
      className={cx("flex items-center gap-3 py-0.5 text-xs", TONES[tone])}
    >
      <span aria-hidden className="h-px min-w-4 flex-1 bg-line" />
      <span className="max-w-[80%] text-center text-balance">{children}</span>
      <span aria-hidden className="h-px min-w-4 flex-1 bg-line" />
    </div>
  );
}

function completeWords(item: CompleteItem): string {
  const took = formatDuration(item.durationMs);
  const spent = spentWords(item.spent);
  const steps = counted(item.nSteps, "step") + (spent === null ? "" : ` · ${spent}`);
  switch (item.outcome) {
    case "done":
      return `Done in ${took}, ${steps}`;
    case "stopped":
      return `Stopped after ${took}, ${steps}`;
    case "interrupted":
      return `Interrupted after ${took}, ${steps}`;
    case "enough":
      return `Ended at its limit after ${took}, ${steps}`;
  }
}

/** Returns a remedy if the server's message has none. */
function wayOut({ code, message }: ErrorItem): string | null {
  if (code !== "model_failed" || message.includes("another model")) return null;
  return "Send a message to try again, or choose another model below.";
}

function Failure({ item }: { item: ErrorItem }) {
  const hint = wayOut(item);
  const spent = item.spent === undefined ? null : spentWords(item.spent);
  return (
    <div
      role="group"
      aria-label="Error"
      className="flex gap-2.5 rounded-lg border border-bad-line bg-bad-soft px-3 py-2.5 text-bad"
    >
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-0">
        <div className="font-medium [overflow-wrap:anywhere]">{sentence(item.message)}</div>
        {hint !== null && <div className="mt-0.5">{hint}</div>}
        <div className="mt-0.5 text-xs">
          <span className="font-mono">{item.code}</span>
          {spent !== null && ` · ${spent}`}
        </div>
      </div>
    </div>
  );
}
