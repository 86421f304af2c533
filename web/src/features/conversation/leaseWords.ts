import type { LeaseData } from "../../api/types";

/** Returns the line for a change of control in the conversation. */
export function leaseWords(data: LeaseData): string {
  const { name } = data;
  if (data.change === "taken") return `${name} took over mouse and keyboard`;
  if (data.change === "extended") return `${name} keeps mouse and keyboard`;
  switch (data.reason) {
    case "handed_back":
      return `${name} handed back`;
    case "expired":
      return `${name} ran out of time`;
    case "disconnected":
      return `${name} left without handing back`;
    case "right_lost":
      return `${name} may no longer drive`;
    case "not_private":
      return `${name} did not get control: programs on the desktop could have watched`;
    case "session_ended":
      return `${name} had control until the session ended`;
  }
}
