/** Formats the cost of models for people. */

/** Formats an amount: `$0.0042`, `$1.23`. Small amounts have enough digits to tell them apart. */
export function formatUsd(usd: number): string {
  if (usd === 0) return "$0.00";
  if (usd < 0.0001) return "under $0.0001";
  return usd < 0.1 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

/** Formats a price per million tokens: `$4`, `$0.10`. */
export function formatPrice(usd: number): string {
  return Number.isInteger(usd) ? `$${usd}` : `$${usd.toFixed(2)}`;
}

/** Formats a number of tokens: `1 token`, `999 tokens`, `12.3k tokens`, `1.2M tokens`. */
export function formatTokens(n: number): string {
  if (n < 1000) return n === 1 ? "1 token" : `${n} tokens`;
  if (n < 999_950) return `${(n / 1000).toFixed(1)}k tokens`;
  return `${(n / 1_000_000).toFixed(1)}M tokens`;
}

/** The usage of models, and its cost as far as that is known. */
export interface Spent {
  usd: number;
  tokens: number;
  /** True if a part of it was used by a model without a known price. */
  isUnpriced: boolean;
}

/** Formats an amount and its limit: `$1.20 of $5.00`. Without a limit, formats the amount only. */
export function usdOf(used: number, limit: number | null): string {
  return limit === null ? formatUsd(used) : `${formatUsd(used)} of ${formatUsd(limit)}`;
}

/** Formats tokens and their limit in the same way. */
export function tokensOf(used: number, limit: number | null): string {
  return limit === null ? formatTokens(used) : `${formatTokens(used)} of ${formatTokens(limit)}`;
}

/** Formats usage as briefly as possible: `$0.12`, or `34.1k tokens` if no price is known. */
export function spentBriefly({ usd, tokens, isUnpriced }: Spent): string {
  if (isUnpriced && usd === 0) return formatTokens(tokens);
  return isUnpriced ? `${formatUsd(usd)}+` : formatUsd(usd);
}

export const nothingSpent: Spent = { usd: 0, tokens: 0, isUnpriced: false };

/** Formats usage: `$0.12 · 34.1k tokens`. Returns null if nothing was used. */
export function spentWords({ usd, tokens, isUnpriced }: Spent): string | null {
  if (tokens === 0 && usd === 0) return null;
  const used = formatTokens(tokens);
  if (!isUnpriced) return `${formatUsd(usd)} · ${used}`;
  return usd === 0 ? `${used}, no price known` : `at least ${formatUsd(usd)} · ${used}`;
}
