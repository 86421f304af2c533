import { type ReactNode, useState } from "react";

import type { AnswerDecision, ApprovalRule, DecisionKind } from "../../api/types";
import { Button } from "../../components/Button";
import { TextField } from "../../components/TextField";
import { ruleWords } from "../approvals/ruleWords";
import { YES_NO_WORDS } from "./decisionWords";

export interface ApprovalFormProps {
  kind: DecisionKind;
  /** True if the user may agree, and not only decline. */
  maySayYes: boolean;
  /** The rule that allows the same from now on, if there is one. */
  rule?: ApprovalRule | null | undefined;
  /** True if the user may allow it in all their sessions. */
  mayAlways: boolean;
  /** True if a no can say something to the agent. */
  takesWords: boolean;
  isSending: boolean;
  onAnswer: (answer: AnswerDecision) => void;
  /** Leads to an answer that is neither yes nor no. */
  other?: ReactNode;
}

/** The longest words for the agent, as the server bounds them in bytes. */
const MOST_LETTERS = 1000;

/** The controls for a yes, for once or for longer, and for a no. */
export function ApprovalForm(props: ApprovalFormProps) {
  const { kind, maySayYes, rule, mayAlways, takesWords, isSending, onAnswer, other } = props;
  const [words, setWords] = useState("");
  const refuse = () => {
    const because = words.trim();
    onAnswer(because === "" ? { yes: false } : { yes: false, because });
  };
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap gap-2">
        {maySayYes && (
          <Button look="primary" disabled={isSending} onClick={() => onAnswer({ yes: true })}>
            {rule == null ? YES_NO_WORDS[kind].yes : "Allow once"}
          </Button>
        )}
        {maySayYes && rule != null && (
          <>
            <Button disabled={isSending} onClick={() => onAnswer({ yes: true, for: "session" })}>
              Allow for this session
            </Button>
            {mayAlways && (
              <Button disabled={isSending} onClick={() => onAnswer({ yes: true, for: "always" })}>
                Always
              </Button>
            )}
          </>
        )}
        {!takesWords && (
          <Button disabled={isSending} onClick={refuse}>
            {YES_NO_WORDS[kind].no}
          </Button>
        )}
        {other}
      </div>
      {maySayYes && rule != null && (
        <p className="text-xs text-faint [overflow-wrap:anywhere]">
          For longer than once, this adds a rule that allows {ruleWords(rule)}. The owner can remove it in the
          session’s menu.
        </p>
      )}
      {takesWords && (
        <form
          className="flex flex-wrap gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            // Enter in an empty field refuses nothing.
            if (words.trim() !== "" && !isSending) refuse();
          }}
        >
          <TextField
            label="Words for the agent"
            value={words}
            onChange={(text) => setWords(text.slice(0, MOST_LETTERS))}
          />
          <Button disabled={isSending} onClick={refuse}>
            {words.trim() === "" ? YES_NO_WORDS[kind].no : "Refuse and tell it"}
          </Button>
        </form>
      )}
    </div>
  );
}
