/** The model at work, its cost and its failures, in the timeline. */

import type { CostData, GatewayData, ModelData, RetryData } from "../../api/types";
import type { Spent } from "../../lib/money";
import type { Item, ItemBase } from "./items";

/** Returns the usage including one more answer. */
export function withCost(spent: Spent, { usd, usage, unpriced }: CostData | GatewayData): Spent {
  const tokens = usage.input + usage.cache_write + usage.cache_read + usage.output;
  return {
    usd: spent.usd + usd,
    tokens: spent.tokens + tokens,
    isUnpriced: spent.isUnpriced || (unpriced === true && tokens > 0),
  };
}

/** Marks the text of an answer that broke off as cut. If another model continues, adds a line about that. */
export function breakOff(items: Item[], base: ItemBase, { model, message }: RetryData): void {
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const item = items[index];
    if (item?.kind !== "thinking" && item?.kind !== "text") break;
    items[index] = { ...item, isCut: true };
  }
  if (model !== undefined) items.push({ ...base, kind: "fallback", model, message });
}

/** Adds a line about the session's new model. Several changes in a row by the same person become one line. */
export function changeModel(items: Item[], base: ItemBase, { model, by, by_name }: ModelData): void {
  const last = items.at(-1);
  if (last?.kind === "model" && last.by === by) items.pop();
  items.push({ ...base, kind: "model", model, by, byName: by_name });
}
