import { CircleHelp, Globe, KeyRound, Repeat, ShieldAlert, ShieldQuestion, Wallet } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { type ReactNode, useRef } from "react";

import { useMe } from "../../api/account";
import { ApiError, messageOf, useStanding } from "../../api/client";
import { useAnswer } from "../../api/decisions";
import type { ApprovalRule, DecisionKind, DecisionState, Form, OverBound, Reply, Right, Subject } from "../../api/types";
import { Markdown } from "../../components/Markdown";
import { Notice } from "../../components/Notice";
import { cx } from "../../lib/cx";
import { includes } from "../../lib/rights";
import { visible } from "../../lib/text";
import { formatElapsed, formatMoment } from "../../lib/time";
import { useNow } from "../../lib/useNow";
import { AnswerForm } from "./AnswerForm";
import { replyWords, subjectWords } from "./decisionWords";
import { What } from "./What";

const ICONS: Record<DecisionKind, LucideIcon> = {
  question: CircleHelp,
  approval: ShieldQuestion,
  owner_approval: KeyRound,
  safety_check: ShieldAlert,
  budget: Wallet,
  network: Globe,
};

/** The right that answering needs. */
const NEEDED: Record<DecisionKind, Right> = {
  question: "suggest",
  approval: "drive",
  owner_approval: "owner",
  safety_check: "drive",
  budget: "drive",
  network: "drive",
};

/** A decision, with its outcome if it is settled. */
export interface Asked {
  id: string;
  kind: DecisionKind;
  prompt: string;
  form: Form;
  /** The call that waits for the answer. */
  call?: string | null | undefined;
  subject?: Subject | null | undefined;
  /** The rule that an answer may add. */
  rule?: ApprovalRule | null | undefined;
  /** The bound that would be exceeded, if that is the reason. */
  over?: OverBound | null | undefined;
  default?: Reply | null | undefined;
  expiresAt?: string | null | undefined;
  state: DecisionState;
  answer?: Reply | null | undefined;
  /** The name of the person who answered. */
  answeredBy?: string | undefined;
  settledAt?: string | null | undefined;
}

interface DecisionCardProps {
  sessionId: string;
  asked: Asked;
  /** The user's right in the session. */
  right: Right;
  /** A link to the session, if that is not obvious. */
  origin?: ReactNode;
}

/** Shows a decision: the question, exactly what would be done, and the answer. */
export function DecisionCard({ sessionId, asked, right, origin }: DecisionCardProps) {
  const Icon = asked.over?.bound === "repeats" ? Repeat : ICONS[asked.kind];
  const words = subjectWords(asked.kind, asked.over);
  const isOpen = asked.state === "open";
  const card = useRef<HTMLElement>(null);
  return (
    <section
      ref={card}
      tabIndex={-1}
      aria-label={words}
      className={cx(
        "overflow-hidden rounded-lg border bg-surface",
        isOpen ? "border-accent" : "border-line",
      )}
    >
      <div className="flex items-center gap-2 px-3 pt-2.5 text-xs font-medium text-soft">
        <Icon
          aria-hidden
          className={cx("size-4 shrink-0", isOpen ? "text-accent" : "text-faint")}
        />
        {words}
        <span className="min-w-0 flex-1 truncate font-normal text-faint">{origin}</span>
        {isOpen && asked.expiresAt != null && <Countdown until={asked.expiresAt} />}
      </div>
      <div className="flex flex-col gap-2.5 px-3 pt-1.5 pb-3">
        {isOurs(asked.kind) ? (
          <Markdown text={visible(asked.prompt)} />
        ) : (
          <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{visible(asked.prompt)}</p>
        )}
        {asked.subject != null && !isToldByPrompt(asked.subject) && (
          <What sessionId={sessionId} subject={asked.subject} withScreen={isOpen} />
        )}
        {isOpen ? (
          <Open
            sessionId={sessionId}
            asked={asked}
            right={right}
            // The controls go away with the answer, and the keyboard's place would go with them.
            onAnswer={() => card.current?.focus({ preventScroll: true })}
          />
        ) : (
          <Outcome asked={asked} />
        )}
      </div>
    </section>
  );
}

/** Returns true for prompts without texts of pages, programs or vendors, which must not become links or emphasis. */
function isOurs(kind: DecisionKind): boolean {
  return kind === "question" || kind === "budget";
}

/** Questions that programs wait for say everything in their prompt. */
function isToldByPrompt({ tool }: Subject): boolean {
  return tool === "network" || tool === "http_secret";
}

interface OpenProps extends Omit<DecisionCardProps, "origin"> {
  onAnswer: () => void;
}

function Open({ sessionId, asked, right, onAnswer }: OpenProps) {
  const answer = useAnswer(sessionId, asked.id);
  const problem = useStanding(answer.error);
  const me = useMe({ enabled: true });
  const needed = NEEDED[asked.kind];
  if (needed === "owner" && right !== "owner") {
    return (
      <p className="text-[13px] text-faint">
        Waiting for the owner of this session. Only they decide about their secrets.
      </p>
    );
  }
  if (!includes(right, needed)) {
    return (
      <p className="text-[13px] text-faint">
        Waiting for somebody who may {needed}. The owner of this session can let you answer.
      </p>
    );
  }
  const bound = asked.over?.bound;
  const isForAdministrator = bound === "day_usd" || bound === "day_tokens" || bound === "unpriced";
  const maySayYes = !isForAdministrator || me.data?.role === "admin";
  // The log or the inbox shows the outcome. Until then there is nothing more to say.
  const isSettled = answer.isSuccess || (answer.error instanceof ApiError && answer.error.code === "settled");
  return (
    <>
      {!isSettled && (
        <AnswerForm
          kind={asked.kind}
          form={formFor(asked, right)}
          maySayYes={maySayYes}
          rule={asked.rule}
          mayAlways={right === "owner"}
          takesWords={asked.call != null && asked.subject != null}
          isSending={answer.isPending}
          onAnswer={(reply) => {
            onAnswer();
            answer.mutate(reply);
          }}
        />
      )}
      {!maySayYes && !isSettled && (
        <p className="text-xs text-faint">Only an administrator can let it go on.</p>
      )}
      {asked.default != null && !isSettled && (
        <p className="text-xs text-faint">
          Without an answer: {replyWords(asked.kind, asked.form, asked.default)}
        </p>
      )}
      {problem && <Notice>{messageOf(problem)}</Notice>}
    </>
  );
}

/** Only the owner can allow a host in all their sessions. */
function formFor({ kind, form }: Asked, right: Right): Form {
  if (kind !== "network" || right === "owner" || form.type !== "choices") return form;
  return { ...form, choices: form.choices.filter(({ value }) => value !== "always") };
}

function Outcome({ asked }: { asked: Asked }) {
  const reply =
    asked.answer == null ? undefined : replyWords(asked.kind, asked.form, asked.answer);
  const when = asked.settledAt == null ? undefined : formatMoment(asked.settledAt);
  return (
    <div className="flex flex-wrap items-baseline gap-x-2 gap-y-0.5 text-[13px]">
      {reply !== undefined && (
        <span className="font-medium whitespace-pre-wrap [overflow-wrap:anywhere]">{reply}</span>
      )}
      <span className="text-xs text-faint" title={when}>
        {outcomeWords(asked, when)}
      </span>
    </div>
  );
}

function outcomeWords(asked: Asked, when: string | undefined): string {
  const at = when === undefined ? "" : `, ${when}`;
  switch (asked.state) {
    case "answered":
      return `${asked.answeredBy ?? "Somebody who left"}${at}`;
    case "expired":
      return asked.answer == null
        ? `Nobody answered in time${at}`
        : `Nobody answered in time, so the default was used${at}`;
    case "withdrawn":
      return canLapse(asked) ? `No longer asked${at}` : `No longer asked: the agent was stopped${at}`;
    case "open":
      return "";
  }
}

/** Returns true for a decision that also goes away by itself: a budget that has grown, or a program that gave up. */
function canLapse({ kind, subject }: Asked): boolean {
  return kind === "budget" || (subject != null && isToldByPrompt(subject));
}

function Countdown({ until }: { until: string }) {
  const left = Date.parse(until) - useNow(1000);
  return (
    <span role="timer" aria-label="Time left" className="shrink-0 text-faint tabular-nums">
      {left > 0 ? `${formatElapsed(left)} left` : "Time is up"}
    </span>
  );
}
