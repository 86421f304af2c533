import type { AnswerData, DecisionData } from "../../api/types";
import type { CallItem, Item } from "./items";

/** Returns true if the agent waits for the answer. For programs that want to contact a host or use a secret, it does not. */
export function holdsAgent({ kind, call }: DecisionData): boolean {
  return kind !== "network" && !(kind === "owner_approval" && call === undefined);
}

/** Records in a question how it was settled, and returns the question. */
export function settle(items: Item[], at: string, data: AnswerData): DecisionData | undefined {
  const { decision, state, answer, by } = data;
  const index = items.findLastIndex(
    (item) => item.kind === "decision" && item.asked.decision === decision,
  );
  const item = items[index];
  if (item?.kind !== "decision") return undefined;
  const settled = {
    state,
    at,
    ...(answer === undefined ? {} : { answer }),
    ...(by === undefined ? {} : { by }),
  };
  items[index] = { ...item, settled };
  return item.asked;
}

/** Records in a call who refused it. */
export function noteRefusal(items: Item[], { call }: DecisionData, { answer, by }: AnswerData): void {
  if (by === undefined || answer === undefined || !("yes" in answer) || answer.yes) return;
  const index = items.findLastIndex((item) => item.kind === "call" && item.call === call);
  const item = items[index];
  if (item?.kind === "call") items[index] = { ...item, refusedBy: by };
}

/** Returns the oldest open question of the agent. */
export function openQuestion(items: readonly Item[]): DecisionData | undefined {
  for (const item of items) {
    if (item.kind === "decision" && item.settled === undefined && item.asked.kind === "question") {
      return item.asked;
    }
  }
  return undefined;
}

/** Changes the state of all calls of a turn from one to another. */
export function changeCalls(
  items: Item[],
  turn: string,
  from: CallItem["state"],
  to: CallItem["state"],
): void {
  for (const [index, item] of items.entries()) {
    if (item.kind === "call" && item.turn === turn && item.state === from) {
      items[index] = { ...item, state: to };
    }
  }
}

/**
 * Leaves out the calls of which the decision beside them says everything: questions to people, and calls that wait for
 * approval.
 */
export function withoutAsked(items: readonly Item[]): Item[] {
  const asked = new Set(items.flatMap((item) => (item.kind === "decision" ? [item.asked.call] : [])));
  return items.filter(
    (item) =>
      item.kind !== "call" || !asked.has(item.call) || (item.tool !== "ask_user" && item.state !== "waiting"),
  );
}
