import type { NetworkDestination, NetworkMode } from "../../api/types";

export const MODES: readonly { value: NetworkMode; label: string }[] = [
  { value: "closed", label: "Closed" },
  { value: "allow", label: "Listed hosts" },
  { value: "open", label: "Open" },
];

const ORDER: Record<NetworkMode, number> = { closed: 0, allow: 1, open: 2 };

/** Returns the modes that a session can have under this ceiling. */
export function modesUpTo(ceiling: NetworkMode): typeof MODES {
  return MODES.filter(({ value }) => ORDER[value] <= ORDER[ceiling]);
}

/** Describes a mode in a sentence. */
export function modeWords(mode: NetworkMode, ceiling: NetworkMode): string {
  switch (mode) {
    case "closed":
      return "Programs on the desktop reach no host.";
    case "allow":
      return ceiling === "allow"
        ? "Programs reach the hosts that the administrator listed."
        : "Programs reach the listed hosts. You are asked about others.";
    case "open":
      return "Programs reach the public internet, but no private network.";
  }
}

/** Formats a host with its port, as in addresses. */
export function placeWords({ host, port }: Pick<NetworkDestination, "host" | "port">): string {
  if (host === "*") return "Other hosts";
  if (port === 0) return host;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Formats a number of bytes: `12 B`, `3.4 MB`. */
export function bytesWords(n: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = n;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** Returns the rule that allows a blocked host, if a rule can. */
export function allowingRule({ host, port, blocked }: NetworkDestination): string | null {
  const isListable = blocked === "not_listed" || blocked === "denied";
  return isListable && host !== "*" ? placeWords({ host, port }) : null;
}

/** Addresses that are not on the public internet, as far as people type them into a list. */
const PRIVATE =
  /^\[?(0\.\d|10\.\d|127\.\d|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|192\.168\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|::1|f[cd][0-9a-f]{2}:|fe[89ab][0-9a-f]:)/i;

/** Returns the rules that open nothing, since only an administrator can open such addresses. */
export function privateRules(rules: readonly string[]): string[] {
  return rules.filter((rule) => PRIVATE.test(rule));
}

/**
 * Returns the draft of a list after the list itself changed: the list if the draft was the same as before, and
 * otherwise the draft with the hosts that were added.
 */
export function mergedDraft(draft: string, before: readonly string[], now: readonly string[]): string {
  if (rulesOf(draft).join() === before.join()) return now.join("\n");
  const drafted = rulesOf(draft);
  const added = now.filter((rule) => !before.includes(rule) && !drafted.includes(rule));
  return [draft.trimEnd(), ...added].filter((line) => line !== "").join("\n");
}

/** Splits a list that a person typed. */
export function rulesOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((rule) => rule !== "");
}
