/** An action on the desktop, as far as these words need it. The server has checked it. */
interface DesktopAction {
  action?: unknown;
  at?: unknown;
  path?: unknown;
  button?: unknown;
  count?: unknown;
  keys?: unknown;
  repeat?: unknown;
  ms?: unknown;
  text?: unknown;
  dx?: unknown;
  dy?: unknown;
  modifiers?: unknown;
}

export interface ScreenPoint {
  x: number;
  y: number;
}

/** Returns what an action would do, or null if it is not known. Text to be typed is not repeated. */
export function actionWords(input: unknown): string | null {
  const words = plainWords(asAction(input));
  const { modifiers } = asAction(input);
  const held = Array.isArray(modifiers) && modifiers.length > 0 ? `, holding ${modifiers.join("+")}` : "";
  return words === null ? null : words + held;
}

/** Returns the text that an action would type. */
export function typedText(input: unknown): string | null {
  const { action, text } = asAction(input);
  return action === "type" && typeof text === "string" ? text : null;
}

/** Returns the point on the screen that an action ends at. */
export function actionPoint(input: unknown): ScreenPoint | null {
  const { at, path } = asAction(input);
  const { x, y } = ((Array.isArray(path) ? path.at(-1) : at) ?? {}) as Partial<ScreenPoint>;
  return typeof x === "number" && typeof y === "number" ? { x, y } : null;
}

function plainWords(action: DesktopAction): string | null {
  const point = actionPoint(action);
  const place = point === null ? "" : ` at (${point.x}, ${point.y})`;
  switch (action.action) {
    case "click":
      return `${clickWords(action)}${place}`;
    case "move":
      return `Move the pointer${place.replace(" at ", " to ")}`;
    case "mouse_down":
      return `Press the ${buttonName(action)} mouse button`;
    case "mouse_up":
      return `Release the ${buttonName(action)} mouse button`;
    case "drag":
      return `Drag${place.replace(" at ", " to ")}`;
    case "scroll":
      return `Scroll${place}`;
    case "type":
      return "Type this text";
    case "key":
      return `Press ${String(action.keys)}${timesWords(action.repeat)}`;
    case "hold_key":
      return `Hold ${String(action.keys)}`;
    default:
      return null;
  }
}

function timesWords(n: unknown): string {
  return typeof n === "number" && n > 1 ? ` ${n} times` : "";
}

function clickWords(action: DesktopAction): string {
  const verb = ["Click", "Double-click", "Triple-click"][Number(action.count ?? 1) - 1] ?? "Click";
  const name = buttonName(action);
  return name === "left" ? verb : `${verb} with the ${name} mouse button`;
}

function buttonName({ button }: DesktopAction): string {
  return typeof button === "string" ? button : "left";
}

function asAction(input: unknown): DesktopAction {
  return (input ?? {}) as DesktopAction;
}
