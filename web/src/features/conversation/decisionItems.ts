import type { AnswerData } from "../../api/types";
import type { CallItem, Item } from "./items";

/** Records in a question how it was settled. */
export function settle(items: Item[], at: string, data: AnswerData): void {
  const { decision, state, answer, by } = data;
  const index = items.findLastIndex(
    (item) => item.kind === "decision" && item.asked.decision === decision,
  );
  const item = items[index];
  if (item?.kind !== "decision") return;
  const settled = {
    state,
    at,
    ...(answer === undefined ? {} : { answer }),
    ...(by === undefined ? {} : { by }),
  };
  items[index] = { ...item, settled };
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
