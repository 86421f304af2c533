/** Returns the code in a pasted text: a whole sign-in link, its end, or the bare code. */
export function codeFrom(pasted: string): string {
  const text = pasted.trim();
  const inLink = /[?&#]code=([^&#\s]+)/.exec(text);
  return inLink?.[1] === undefined ? text : decodeURIComponent(inLink[1]);
}

type CodeName = "code" | "share";

/**
 * Removes the code of a sign-in link or a shared link from the address bar, and returns it.
 *
 * A code gives access, so it must not stay in the history, in a bookmark or on a shared screen. Links have it behind
 * `#`, which browsers keep to themselves; links of earlier versions have it behind `?`.
 */
export function takeCodeFromAddress(name: CodeName): string | null {
  const url = new URL(window.location.href);
  const behindHash = new URLSearchParams(url.hash.slice(1));
  const code = behindHash.get(name) ?? url.searchParams.get(name);
  if (code === null) return null;
  if (behindHash.has(name)) {
    behindHash.delete(name);
    url.hash = behindHash.toString();
  }
  url.searchParams.delete(name);
  window.history.replaceState(window.history.state, "", url);
  return code;
}

/** Returns true if the part of an address behind `#` has a code. */
export function hasCode(hash: string): boolean {
  const parameters = new URLSearchParams(hash.replace(/^#/, ""));
  return parameters.has("code") || parameters.has("share");
}
