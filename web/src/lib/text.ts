/**
 * Turns a message of the server into a sentence.
 *
 * The server's messages begin in lower case and have no full stop. A leading name, such as a
 * model's, stays as it is.
 */
export function sentence(message: string): string {
  const text = message.trim();
  if (text === "") return "Something went wrong.";
  const isName = /^\S+\//.test(text);
  const first = isName ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
}

/** Shortens a text to at most `length` characters on one line. */
export function shorten(text: string, length: number): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= length ? line : `${line.slice(0, length - 1).trimEnd()}…`;
}

/**
 * Control characters other than newline and tab, those that change the direction of text or break its lines, those
 * that cannot be seen, and joiners beside ASCII.
 */
const DECEPTIVE =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u200b\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff]|(?<![^\u0000-\u007f])[\u200c\u200d]|[\u200c\u200d](?![^\u0000-\u007f])/g;

/**
 * Shows characters that would make a text look like another as escapes, such as `\u202e`.
 *
 * The carriage return of a Windows line ending is left out.
 */
export function visible(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll(DECEPTIVE, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Formats a count with its noun: `1 step`, `5 steps`. */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}
