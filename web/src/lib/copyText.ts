/**
 * Puts a text on the clipboard of the browser's own computer. Returns false if that is not possible.
 *
 * Browsers have `navigator.clipboard` on https and localhost only. Elsewhere the older way remains, which needs a
 * selection in the page.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    // oxlint-disable-next-line typescript/no-unnecessary-condition -- it is absent on plain http
    if (navigator.clipboard !== undefined) {
      await navigator.clipboard.writeText(text);
      return true;
    }
  } catch {
    // The user or the browser does not allow it.
    return false;
  }
  const focused = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.style.position = "fixed";
  field.style.opacity = "0";
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  return isCopied;
}
