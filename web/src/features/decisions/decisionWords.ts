import type { AnswerScope, DecisionKind, Form, OverBound, Reply } from "../../api/types";

const KIND_WORDS: Record<DecisionKind, string> = {
  question: "Question",
  approval: "Approval",
  owner_approval: "Approval by the owner",
  safety_check: "Safety check",
  budget: "Budget",
  network: "Network",
};

/** Returns the subject of a decision in a word or two. */
export function subjectWords(kind: DecisionKind, over: OverBound | null | undefined): string {
  if (over?.bound === "repeats") return "Going in circles";
  return over?.bound === "unpriced" ? "No price known" : KIND_WORDS[kind];
}

const APPROVAL = { yes: "Approve", no: "Refuse", saidYes: "Approved", saidNo: "Refused" };

/** The labels for yes and no, on buttons and as answers. */
export const YES_NO_WORDS: Record<DecisionKind, typeof APPROVAL> = {
  question: { yes: "Yes", no: "No", saidYes: "Yes", saidNo: "No" },
  approval: APPROVAL,
  owner_approval: APPROVAL,
  safety_check: APPROVAL,
  budget: { yes: "Go on", no: "End the turn", saidYes: "Went on", saidNo: "Ended the turn" },
  network: APPROVAL,
};

const SCOPE_WORDS: Record<AnswerScope, string> = {
  session: "Allowed for this session",
  always: "Always allowed",
};

/** Returns an answer in the words that people see: labels, not values. */
export function replyWords(kind: DecisionKind, form: Form, reply: Reply): string {
  if ("text" in reply) return reply.text;
  if ("yes" in reply) {
    const words = YES_NO_WORDS[kind];
    if (reply.for != null) return SCOPE_WORDS[reply.for];
    if (reply.yes) return words.saidYes;
    return reply.because == null ? words.saidNo : `${words.saidNo}: ${reply.because}`;
  }
  if ("file" in reply) return `${reply.file.name} (${sizeWords(reply.file.n_bytes)})`;
  const choices = form.type === "choices" ? form.choices : [];
  const label = (value: string) =>
    choices.find((choice) => choice.value === value)?.label ?? value;
  return reply.choices.map(label).join(", ");
}

/** Formats a size: `12 bytes`, `3.4 KB`. */
function sizeWords(n_bytes: number): string {
  return n_bytes < 1000 ? `${n_bytes} bytes` : `${(n_bytes / 1000).toFixed(1)} KB`;
}
