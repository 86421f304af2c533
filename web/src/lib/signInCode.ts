/** Returns the code in a pasted text: a whole sign-in link, its end, or the bare code. */
export function codeFrom(pasted: string): string {
  const text = pasted.trim();
  const inLink = /[?&]code=([^&#\s]+)/.exec(text);
  return inLink?.[1] === undefined ? text : decodeURIComponent(inLink[1]);
}

/**
 * Removes the code of a sign-in link or a shared link from the address bar, and returns it.
 *
 * A code gives access, so it must not stay in the history, in a bookmark or on a shared screen.
 */
export function takeCodeFromAddress(parameter: "code" | "share"): string | null {
  const url = new URL(window.location.href);
  const code = url.searchParams.get(parameter);
  if (code === null) return null;
  url.searchParams.delete(parameter);
  window.history.replaceState(window.history.state, "", url);
  return code;
}
