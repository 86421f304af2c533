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

/** The rights that can be given, least first, with explanations. */
export const GIVEN_RIGHTS: readonly { value: GivenRight; label: string }[] = [
  { value: "view", label: "May view: read and watch" },
  { value: "suggest", label: "May suggest: also send messages" },
  { value: "drive", label: "May drive: also stop it and take over" },
];
