import type { LucideIcon } from "lucide-react";
import { useEffect, useId } from "react";

import { observable } from "../../lib/observable";

/** The groups of the command palette, in its order. */
export const COMMAND_GROUPS = ["This session", "Panels", "Sessions", "Go to", "Theme", "Account"] as const;

/** Something that a person can do, from the command palette or with a shortcut. */
export interface Command {
  id: string;
  title: string;
  group: (typeof COMMAND_GROUPS)[number];
  icon: LucideIcon;
  run: () => void;
  /** Words that find it besides its title. */
  keywords?: string;
  /** A short note at its end, such as a state. */
  note?: string;
  /** Keys such as `Mod+K`, `?` or `1`. `Mod` is Command on a Mac, and Ctrl elsewhere. */
  shortcut?: string;
  /** Its place in its group: the most used have less than 0, those that end something more. */
  rank?: number;
  /** Left out of the palette, for what only makes sense with a key. */
  isOnlyShortcut?: boolean;
}

const contributed = new Map<string, readonly Command[]>();
const all = observable<readonly Command[]>([]);

/** Returns the commands of everything that is in the page now. */
export const allCommands = all.get;
export const useAllCommands = all.use;

/** Offers commands while the calling component is in the page. */
export function useCommands(commands: readonly Command[]): void {
  const key = useId();
  // The commands are new objects after each render. Only an open palette follows them.
  useEffect(() => {
    contributed.set(key, commands);
    all.set([...contributed.values()].flat());
  });
  useEffect(
    () => () => {
      contributed.delete(key);
      all.set([...contributed.values()].flat());
    },
    [key],
  );
}

/** The dialog of this feature that is open. */
export const openDialog = observable<"palette" | "shortcuts" | null>(null);
