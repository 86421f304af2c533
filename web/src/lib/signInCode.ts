/** The code in what somebody pasted: a whole sign-in link, its end, or the bare code. */
export function codeFrom(pasted: string): string {
  const text = pasted.trim();
  const inLink = /[?&]code=([^&#\s]+)/.exec(text);
  return inLink?.[1] === undefined ? text : decodeURIComponent(inLink[1]);
}

/**
 * Takes the sign-in code, or that of a shared link, out of the address bar.
 *
 * A code lets somebody in: it must not stay in the history, in a bookmark or on a shared screen.
 */
export function takeCodeFromAddress(parameter: "code" | "share"): string | null {
  const url = new URL(window.location.href);
  const code = url.searchParams.get(parameter);
  if (code === null) return null;
  url.searchParams.delete(parameter);
  window.history.replaceState(window.history.state, "", url);
  return code;
}
