import type { TerminalEnd, TerminalReadOnly } from "../../api/types";

/** Returns a sentence about the end of a terminal. */
export function endWords(end: TerminalEnd): string {
  return end.end === "exited" ? `Ended with exit code ${end.code}.` : "Somebody ended this terminal.";
}

/** Returns a sentence about why the user cannot type, unless the terminal has ended. */
export function readOnlyWords(reason: TerminalReadOnly, holder: string | null): string | null {
  switch (reason) {
    case "ended":
      return null;
    case "agent_shell":
      return "The agent's commands, as they run. You can only watch.";
    case "watching":
      return "You can watch. Typing needs the right to drive.";
    case "control":
      return `${holder ?? "Somebody"} has control, so only they can type.`;
    case "paused":
      return "Paused while you have control.";
  }
}
