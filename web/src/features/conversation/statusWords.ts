import type { SandboxState } from "../../api/types";
import { sentence } from "../../lib/text";
import { formatDuration } from "../../lib/time";
import type { StatusItem } from "./items";

const SANDBOX_WORDS: Record<SandboxState, string> = {
  none: "There is no computer",
  starting: "The computer is starting…",
  ready: "The computer is ready",
  paused: "The computer is paused",
  stopped: "The computer is asleep",
  lost: "The computer went away",
};

const SLOW_MS = 1000;

/** Returns the line for a change of state in the conversation. */
export function statusWords(item: StatusItem): string {
  const words = plainWords(item);
  if (item.reason !== undefined) return `${sentence(words)} ${sentence(item.reason)}`;
  // Nobody waited for a desktop that was there at once.
  const wasSlow = item.tookMs !== undefined && item.tookMs >= SLOW_MS;
  return wasSlow ? `${words} after ${formatDuration(item.tookMs ?? 0)}` : words;
}

function plainWords(item: StatusItem): string {
  if (item.state === "terminated") return "The session has ended";
  if (item.state === "error") return "The computer could not start";
  // A desktop that became ready meanwhile is reported as ready.
  if (item.state === "waiting" && item.tookMs === undefined) return "The agent waits for you";
  return SANDBOX_WORDS[item.sandbox];
}
