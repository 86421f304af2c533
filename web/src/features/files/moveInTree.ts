import type { KeyboardEvent } from "react";

const ENTRY = "[data-entry]";

/** Moves the keyboard among the entries of a tree, and opens and closes folders, with the keys that trees have. */
export function moveInTree(event: KeyboardEvent<HTMLElement>): void {
  const entry = event.target instanceof HTMLElement && event.target.matches(ENTRY) ? event.target : null;
  const item = entry?.closest<HTMLElement>('[role="treeitem"]');
  if (!entry || !item) return;
  const entries = [...event.currentTarget.querySelectorAll<HTMLElement>(ENTRY)];
  const at = entries.indexOf(entry);
  const expanded = item.getAttribute("aria-expanded");
  const above = item.parentElement?.closest('[role="treeitem"]')?.querySelector<HTMLElement>(ENTRY);
  const moves: Record<string, () => void> = {
    ArrowDown: () => entries[at + 1]?.focus(),
    ArrowUp: () => entries[at - 1]?.focus(),
    Home: () => entries[0]?.focus(),
    End: () => entries.at(-1)?.focus(),
    ArrowRight: () => {
      if (expanded === "false") entry.click();
      else if (expanded === "true") entries[at + 1]?.focus();
    },
    ArrowLeft: () => {
      if (expanded === "true") entry.click();
      else above?.focus();
    },
  };
  const move = moves[event.key];
  if (move === undefined || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  move();
}
