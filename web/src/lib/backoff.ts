/** The delays between attempts, which double from `firstMs` up to `longestMs`. */
export interface Backoff {
  firstMs: number;
  longestMs: number;
}

/**
 * Returns the delay before attempt number `attempt` (counted from 0).
 *
 * Up to half of it is random, so that many pages that lost the same server do not all reconnect in
 * the same instant.
 */
export function backoffMs(attempt: number, backoff: Backoff, chance = Math.random()): number {
  const full = Math.min(backoff.longestMs, backoff.firstMs * 2 ** Math.min(attempt, 20));
  return Math.round(full * (0.5 + chance / 2));
}
