/** The way in which the lines of a text end. */
export type LineEnds = "lf" | "crlf" | "mixed";

/** Returns the way in which the lines of a text end. A carriage return alone ends a line in the editor, too. */
export function lineEndsOf(text: string): LineEnds {
  const found = new Set(text.match(/\r\n|\r|\n/g));
  if (found.size > 1 || found.has("\r")) return "mixed";
  return found.has("\r\n") ? "crlf" : "lf";
}
