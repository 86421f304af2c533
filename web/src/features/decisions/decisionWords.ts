import type { DecisionKind, Form, Reply } from "../../api/types";

export const KIND_WORDS: Record<DecisionKind, string> = {
  question: "Question",
  approval: "Approval",
  safety_check: "Safety check",
  budget: "Budget",
};

/** Whether a yes lets the agent do something, rather than telling it something. */
export function isLeave(kind: DecisionKind): boolean {
  return kind !== "question";
}

/** An answer as people read it: labels, not values. */
export function replyWords(kind: DecisionKind, form: Form, reply: Reply): string {
  if ("text" in reply) return reply.text;
  if ("yes" in reply) {
    if (isLeave(kind)) return reply.yes ? "Approved" : "Refused";
    return reply.yes ? "Yes" : "No";
  }
  if ("file" in reply) return `${reply.file.name} (${sizeWords(reply.file.n_bytes)})`;
  const choices = form.type === "choices" ? form.choices : [];
  const label = (value: string) =>
    choices.find((choice) => choice.value === value)?.label ?? value;
  return reply.choices.map(label).join(", ");
}

/** `12 bytes`, `3.4 KB`. */
function sizeWords(n_bytes: number): string {
  return n_bytes < 1000 ? `${n_bytes} bytes` : `${(n_bytes / 1000).toFixed(1)} KB`;
}
