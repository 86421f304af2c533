import type { Place } from "../../api/apps";

const MOST_PORT = 65_535;

/**
 * Reads what a person typed: a path such as `/login`, a port with or without a path such as `3000/login`, or an address
 * such as `http://localhost:3000/login`. A path is at the program that is shown. Returns null for anything else.
 */
export function placeOf(typed: string, shown: Place | null): Place | null {
  const text = typed.trim();
  if (text.startsWith("/")) return shown && { ...shown, path: text };
  const match = /^(?:(?:https?:\/\/)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0)?:)?(\d{1,5})(\/.*)?$/.exec(text);
  const port = Number(match?.[1] ?? 0);
  if (port < 1 || port > MOST_PORT) return null;
  return { service: `port-${port}`, path: match?.[2] ?? "/" };
}

/** Returns the port of a service, or null for VS Code. */
export function portOf({ service }: Place): number | null {
  const port = Number(service.replace(/^port-/, ""));
  return Number.isInteger(port) ? port : null;
}
