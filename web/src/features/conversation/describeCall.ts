import { shorten } from "../../lib/text";

/** Which picture stands beside the sentence. */
export type CallIcon =
  "look" | "pointer" | "scroll" | "keyboard" | "wait" | "shell" | "file" | "edit" | "ask" | "secret" | "tool";

/** What a call does, in one sentence: `doing` or `did`, then the rest, of which `code` is set apart. */
export interface CallSentence {
  icon: CallIcon;
  doing: string;
  did: string;
  rest?: string;
  code?: string;
}

type Input = Readonly<Record<string, unknown>>;

const LONGEST_CODE = 120;

/** Says in words what a tool use of `docs/api.md` is. Input of any other shape gets a plain sentence. */
export function describeCall(tool: string, input: unknown): CallSentence {
  const fields: Input = typeof input === "object" && input !== null ? (input as Input) : {};
  const known =
    tool === "computer"
      ? describeAction(fields)
      : tool === "bash"
        ? describeShell(fields)
        : tool === "editor"
          ? describeEdit(fields)
          : tool === "ask_user"
            ? describeQuestion(fields)
            : tool === "fill_secret"
              ? describeSecret(fields)
              : null;
  return known ?? { icon: "tool", doing: "Using", did: "Used", code: tool };
}

function describeAction(input: Input): CallSentence | null {
  switch (input.action) {
    case "screenshot":
      return { icon: "look", doing: "Looking at the screen", did: "Looked at the screen" };
    case "zoom":
      return { icon: "look", doing: "Looking closely", did: "Looked closely", rest: area(input) };
    case "move":
      return { icon: "pointer", doing: "Moving", did: "Moved", rest: `to ${point(input.at)}` };
    case "click":
      return describeClick(input);
    case "mouse_down":
      return {
        icon: "pointer",
        doing: "Pressing",
        did: "Pressed",
        rest: `${button(input)} button`,
      };
    case "mouse_up":
      return {
        icon: "pointer",
        doing: "Releasing",
        did: "Released",
        rest: `${button(input)} button`,
      };
    case "drag":
      return { icon: "pointer", doing: "Dragging", did: "Dragged", rest: path(input) };
    case "scroll":
      return { icon: "scroll", doing: "Scrolling", did: "Scrolled", rest: scrolled(input) };
    case "type":
      return { icon: "keyboard", doing: "Typing", did: "Typed", rest: quoted(input.text) };
    case "key":
      return { icon: "keyboard", doing: "Pressing", did: "Pressed", ...keys(input) };
    case "hold_key":
      return {
        icon: "keyboard",
        doing: "Holding",
        did: "Held",
        code: str(input.keys),
        rest: `for ${seconds(input.ms)}`,
      };
    case "wait":
      return { icon: "wait", doing: "Waiting", did: "Waited", rest: seconds(input.ms) };
    case "cursor_position":
      return { icon: "pointer", doing: "Finding the pointer", did: "Found the pointer" };
    default:
      return null;
  }
}

function describeClick(input: Input): CallSentence {
  const count = num(input.count) ?? 1;
  const [doing, did] =
    count === 2
      ? ["double-clicking", "double-clicked"]
      : count === 3
        ? ["triple-clicking", "triple-clicked"]
        : ["clicking", "clicked"];
  const which = input.button === "right" || input.button === "middle" ? `${input.button}-` : "";
  const held = list(input.modifiers).map(str);
  const place = input.at === undefined ? "" : `at ${point(input.at)}`;
  const rest = [place, held.length > 0 ? `with ${held.join("+")}` : ""].filter(Boolean).join(" ");
  return { icon: "pointer", doing: capital(which + doing), did: capital(which + did), rest };
}

function describeShell(input: Input): CallSentence | null {
  if (input.shell === "restart") {
    return { icon: "shell", doing: "Restarting the shell", did: "Restarted the shell" };
  }
  if (typeof input.command !== "string") return null;
  return {
    icon: "shell",
    doing: "Running",
    did: "Ran",
    code: shorten(input.command, LONGEST_CODE),
  };
}

function describeQuestion(input: Input): CallSentence {
  return { icon: "ask", doing: "Asking", did: "Asked", rest: quoted(input.question) };
}

function describeSecret(input: Input): CallSentence {
  return {
    icon: "secret",
    doing: "Filling in the secret",
    did: "Filled in the secret",
    code: str(input.name),
  };
}

function describeEdit(input: Input): CallSentence | null {
  const code = str(input.path);
  switch (input.command) {
    case "view":
      return { icon: "file", doing: "Reading", did: "Read", code };
    case "create":
      return { icon: "edit", doing: "Writing", did: "Wrote", code };
    case "str_replace":
    case "insert":
      return { icon: "edit", doing: "Editing", did: "Edited", code };
    case "undo_edit":
      return {
        icon: "edit",
        doing: "Undoing the last edit of",
        did: "Undid the last edit of",
        code,
      };
    default:
      return null;
  }
}

function str(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function num(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function point(value: unknown): string {
  const { x, y } = (value ?? {}) as { x?: unknown; y?: unknown };
  return `(${num(x) ?? "?"}, ${num(y) ?? "?"})`;
}

function area(input: Input): string {
  const { x0, y0, x1, y1 } = (input.region ?? {}) as Record<string, unknown>;
  return `at ${point({ x: x0, y: y0 })} to ${point({ x: x1, y: y1 })}`;
}

function button(input: Input): string {
  return `the ${str(input.button) || "left"} mouse`;
}

function path(input: Input): string {
  const points = list(input.path);
  const end = `to ${point(points.at(-1))}`;
  return points.length > 1 ? `from ${point(points[0])} ${end}` : end;
}

function scrolled(input: Input): string {
  const dx = num(input.dx) ?? 0;
  const dy = num(input.dy) ?? 0;
  const parts = [
    dy === 0 ? "" : `${dy > 0 ? "down" : "up"} ${Math.abs(dy)}`,
    dx === 0 ? "" : `${dx > 0 ? "right" : "left"} ${Math.abs(dx)}`,
  ].filter(Boolean);
  const place = input.at === undefined ? "" : ` at ${point(input.at)}`;
  return parts.join(", ") + place;
}

function quoted(value: unknown): string {
  return `“${shorten(str(value), 80)}”`;
}

function keys(input: Input): { code: string; rest?: string } {
  const repeat = num(input.repeat) ?? 1;
  const code = str(input.keys);
  return repeat > 1 ? { code, rest: `${repeat} times` } : { code };
}

function seconds(ms: unknown): string {
  const value = num(ms) ?? 0;
  return value < 1000 ? `${value} ms` : `${value / 1000} s`;
}
