import type { LeaseData, SessionState } from "../../api/types";

/** A person's lease of the mouse and the keyboard. */
export interface HeldLease {
  user: string;
  name: string;
  until: string;
}

/** The holder of the mouse and the keyboard, from the user's point of view. */
export type Control =
  | { holder: "agent" }
  | { holder: "nobody" }
  | { holder: "me"; until: string }
  | { holder: "other"; name: string; until: string };

export function controlOf(
  lease: HeldLease | null,
  state: SessionState,
  me: string | undefined,
): Control {
  if (lease !== null) {
    const { user, name, until } = lease;
    return user === me ? { holder: "me", until } : { holder: "other", name, until };
  }
  return { holder: state === "running" ? "agent" : "nobody" };
}

/** Returns a message if the user lost control without handing it back. */
export function lossWords(data: LeaseData, me: string | undefined): string | null {
  if (me === undefined) return null;
  if (data.change === "taken") return data.from === me ? `${data.name} took over from you.` : null;
  if (data.change !== "ended" || data.user !== me) return null;
  switch (data.reason) {
    case "expired":
      return "Your time ran out, so control was handed back.";
    case "disconnected":
      return "You were disconnected for a while, so control was handed back.";
    case "right_lost":
      return "You may no longer drive, so control was handed back.";
    default:
      return null;
  }
}

/** Returns what a working agent waits for, if a person has control. */
export function waitingWords(control: Control): string | undefined {
  if (control.holder === "me") return "Waiting until you hand back";
  return control.holder === "other" ? `Waiting until ${control.name} hands back` : undefined;
}
