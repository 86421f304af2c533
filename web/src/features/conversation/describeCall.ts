import { shorten } from "../../lib/text";

/** The icon beside the description. */
export type CallIcon =
  | "look"
  | "pointer"
  | "scroll"
  | "keyboard"
  | "wait"
  | "page"
  | "shell"
  | "file"
  | "edit"
  | "ask"
  | "secret"
  | "tool";

/** A tool call as the log contains it. */
interface Call {
  tool: string;
  input: unknown;
  /** The tool's own description of the call. */
  description?: string;
}

const LONGEST_INPUT = 120;

const ACTION_ICONS: Readonly<Record<string, CallIcon>> = {
  screenshot: "look",
  zoom: "look",
  scroll: "scroll",
  type: "keyboard",
  key: "keyboard",
  hold_key: "keyboard",
  wait: "wait",
};

/** The actions of the browser that have the icon of the same action on the screen. */
const BROWSER_ICONS: Readonly<Record<string, CallIcon>> = {
  screenshot: "look",
  zoom: "look",
  scroll: "scroll",
  scroll_to: "scroll",
  type: "keyboard",
  press: "keyboard",
  hold_key: "keyboard",
  click: "pointer",
  double_click: "pointer",
  triple_click: "pointer",
  right_click: "pointer",
  middle_click: "pointer",
  hover: "pointer",
  drag: "pointer",
  wait: "wait",
  pause: "wait",
};

const TOOL_ICONS: Readonly<Record<string, CallIcon>> = {
  bash: "shell",
  ask_user: "ask",
  fill_secret: "secret",
};

/**
 * Returns the tool's own description. Calls that the tool could not read, and calls in logs of
 * earlier versions, have none and get a generic one.
 */
export function describeCall({ tool, input, description }: Call): string {
  if (description !== undefined) return description;
  return `Used ${tool} ${shorten(JSON.stringify(input ?? null), LONGEST_INPUT)}`;
}

/** The verbs whose present form does not follow from the past form. */
const IRREGULAR_VERBS: Readonly<Record<string, string>> = {
  Found: "Finding",
  Held: "Holding",
  Ran: "Running",
  Read: "Reading",
  Took: "Taking",
  Undid: "Undoing",
  Wrote: "Writing",
};

/** Returns the description of a call that is not done. Tools describe their calls in the past tense. */
export function describeOpenCall(call: Call): string {
  const description = describeCall(call);
  const [verb = ""] = description.split(" ", 1);
  const present = IRREGULAR_VERBS[verb] ?? verb.replace(/ed$/, "ing");
  return present + description.slice(verb.length);
}

/** Returns the icon of a call. An unknown tool has a generic one. */
export function callIcon({ tool, input }: Call): CallIcon {
  const { action, command } = (input ?? {}) as { action?: unknown; command?: unknown };
  if (tool === "computer") return ACTION_ICONS[String(action)] ?? "pointer";
  if (tool === "browser") return BROWSER_ICONS[String(action)] ?? "page";
  if (tool === "editor") return command === "view" ? "file" : "edit";
  return TOOL_ICONS[tool] ?? "tool";
}
