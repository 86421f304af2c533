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

/** Formats a count with its noun: `1 step`, `5 steps`. */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}
