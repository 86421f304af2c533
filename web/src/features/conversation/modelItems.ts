/** Which model works, what models cost and when they cannot be reached, in what the page shows. */

import type { CostData, GatewayData, ModelData, RetryData } from "../../api/types";
import type { Spent } from "../../lib/money";
import type { Item, ItemBase } from "./items";

/** What was used with one more answer. */
export function withCost(spent: Spent, { usd, usage, unpriced }: CostData | GatewayData): Spent {
  const tokens = usage.input + usage.cache_write + usage.cache_read + usage.output;
  return {
    usd: spent.usd + usd,
    tokens: spent.tokens + tokens,
    isUnpriced: spent.isUnpriced || (unpriced === true && tokens > 0),
  };
}

/** The model's answer broke off: what it was thinking leads nowhere. Perhaps another model goes on. */
export function breakOff(items: Item[], base: ItemBase, { model, message }: RetryData): void {
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const item = items[index];
    if (item?.kind !== "thinking" && item?.kind !== "text") break;
    items[index] = { ...item, isCut: true };
  }
  if (model !== undefined) items.push({ ...base, kind: "fallback", model, message });
}

/** The session has another model. Who changes their mind at once has said it once. */
export function changeModel(items: Item[], base: ItemBase, { model, by, by_name }: ModelData): void {
  const last = items.at(-1);
  if (last?.kind === "model" && last.by === by) items.pop();
  items.push({ ...base, kind: "model", model, by, byName: by_name });
}
