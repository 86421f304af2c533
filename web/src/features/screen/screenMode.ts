import type { ComputerKind, SandboxState, SessionState } from "../../api/types";

/** The content of the screen pane: the live desktop, a note that it is starting, or the last picture. */
export type ScreenMode = "live" | "starting" | "off";

export function screenMode(state: SessionState, sandbox: SandboxState): ScreenMode {
  if (state === "terminated") return "off";
  if (sandbox === "ready") return "live";
  if (sandbox === "starting" || (sandbox === "none" && state === "initializing")) return "starting";
  return "off";
}

/** Returns the reason why there is nothing live to see, and how to get it back. */
export function offNote(state: SessionState, sandbox: SandboxState, computer: ComputerKind): string {
  if (state === "terminated") return "The session has ended.";
  switch (sandbox) {
    case "lost":
      return `The ${computer} went away. It starts again with your next message.`;
    case "paused":
      return `The ${computer} is paused. It resumes with your next message.`;
    case "stopped":
      return `The ${computer} is asleep. It wakes with your next message.`;
    default:
      return `There is no ${computer}. Your next message tries to start one.`;
  }
}
