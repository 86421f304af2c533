import type { Scope } from "../../api/types";

/** The labels of the scopes, as in `docs/words.md`. */
export const SCOPE_WORDS: Record<Scope, string> = {
  read: "Read and watch",
  write: "Use sessions",
  admin: "Everything",
  metrics: "Only the server's metrics",
};

/** Returns the options of a choice among scopes. */
export function scopeOptions<Of extends Scope>(scopes: readonly Of[]): { value: Of; label: string }[] {
  return scopes.map((value) => ({ value, label: SCOPE_WORDS[value] }));
}

/** The time after which a token expires, in days. */
export type TokenLife = "30" | "365" | "ever";

export const TOKEN_LIVES: readonly { value: TokenLife; label: string }[] = [
  { value: "30", label: "30 days" },
  { value: "365", label: "1 year" },
  { value: "ever", label: "No expiry" },
];

const DAY_MS = 24 * 60 * 60 * 1000;

/** Returns the time at which a token that is created now expires. */
export function expiryOf(life: TokenLife): string | null {
  return life === "ever" ? null : new Date(Date.now() + Number(life) * DAY_MS).toISOString();
}
