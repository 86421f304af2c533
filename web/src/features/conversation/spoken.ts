import type { Item } from "./items";

/** Returns true if the pieces of this turn already contain the complete answer. */
export function wasSpoken(items: readonly Item[], content: string, turn: string | undefined): boolean {
  const said = items
    .filter((item) => item.kind === "text" && item.turn === turn)
    .map((item) => (item.kind === "text" ? item.text : ""))
    .join("");
  return withoutSpace(said).includes(withoutSpace(content));
}

function withoutSpace(text: string): string {
  return text.replaceAll(/\s+/g, "");
}
