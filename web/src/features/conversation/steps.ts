import type { CallItem, Item, ShotItem, SaidItem } from "./items";

/** Items of the agent's work between two things that it or somebody else says. */
export interface Work {
  /** The id of its first item. */
  id: number;
  items: readonly (CallItem | ShotItem | SaidItem)[];
}

/** A part of the conversation: one item, or work that is shown together. */
export type Part = { kind: "item"; item: Item } | { kind: "work"; work: Work };

/** Puts the calls that follow each other together, with the thoughts and pictures between them. */
export function partsOf(items: readonly Item[]): Part[] {
  const parts: Part[] = [];
  let run: Work["items"][number][] = [];
  const close = () => {
    const [first] = run;
    if (first) parts.push({ kind: "work", work: { id: first.id, items: run } });
    run = [];
  };
  for (const item of items) {
    if (isWork(item)) {
      run.push(item);
    } else {
      close();
      parts.push({ kind: "item", item });
    }
  }
  close();
  return parts;
}

function isWork(item: Item): item is CallItem | ShotItem | SaidItem {
  return item.kind === "call" || item.kind === "shot" || item.kind === "thinking";
}

/** A summary of the calls in some work. */
export interface WorkSummary {
  nCalls: number;
  nFailed: number;
  durationMs: number;
  /** The newest picture. */
  shot: ShotItem["shot"] | undefined;
}

export function summaryOf({ items }: Work): WorkSummary {
  const calls = items.filter((item) => item.kind === "call");
  const shots = items.flatMap((item) =>
    item.kind === "call" ? item.shots : item.kind === "shot" ? [item.shot] : [],
  );
  return {
    nCalls: calls.length,
    nFailed: calls.filter(({ state }) => state === "failed").length,
    durationMs: calls.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0),
    shot: shots.at(-1),
  };
}
