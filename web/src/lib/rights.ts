import type { GivenRight, Right } from "../api/types";

const LEVELS: Record<Right, number> = { view: 0, suggest: 1, drive: 2, owner: 3 };

/** Returns true if a right includes another. */
export function includes(right: Right, needed: Right): boolean {
  return LEVELS[right] >= LEVELS[needed];
}

export const RIGHT_WORDS: Record<Right, string> = {
  view: "May view",
  suggest: "May suggest",
  drive: "May drive",
  owner: "Owner",
};

/** The rights that can be given, least first. */
const GIVEN: readonly GivenRight[] = ["view", "suggest", "drive"];

export const SHORT_RIGHTS = GIVEN.map((value) => ({ value, label: RIGHT_WORDS[value] }));

/** Explains the rights that can be given. Each contains the one before it. */
export const RIGHTS_EXPLAINED =
  "Who may view reads and watches. Who may suggest also sends messages. Who may drive also stops it and takes over.";
