/** Waiting messages in the timeline. */

import type { QueueData } from "../../api/types";
import type { PromptItem } from "./items";

/** Applies a person's change to a waiting message. */
export function changeWaiting(waiting: PromptItem[], data: QueueData): void {
  const index = waiting.findIndex(({ message }) => message === data.message);
  const item = waiting[index];
  if (item === undefined) return;
  switch (data.change) {
    case "edited":
      waiting[index] = { ...item, text: data.content };
      return;
    case "redelivered":
      waiting[index] = { ...item, delivery: data.delivery };
      return;
    case "reassigned": {
      const { model: _before, ...rest } = item;
      waiting[index] = data.model === undefined ? rest : { ...rest, model: data.model };
      return;
    }
    case "reweighed": {
      const { effort: _before, ...rest } = item;
      waiting[index] = data.effort === undefined ? rest : { ...rest, effort: data.effort };
      return;
    }
    case "held":
    case "released":
      waiting[index] = { ...item, isHeld: data.change === "held" };
      return;
    case "moved": {
      waiting.splice(index, 1);
      const before = waiting.findIndex(({ message }) => message === data.before);
      waiting.splice(before < 0 ? waiting.length : before, 0, item);
      return;
    }
    case "removed":
      waiting.splice(index, 1);
  }
}

const URGENCY = { interrupt: 0, steer: 1, queue: 2 };

/** Returns waiting prompts in the order in which the agent takes them. */
export function inOrder(waiting: readonly PromptItem[]): PromptItem[] {
  return waiting.toSorted((a, b) => URGENCY[a.delivery] - URGENCY[b.delivery]);
}
