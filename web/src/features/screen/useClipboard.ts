import { type ClipboardEvent, type KeyboardEvent, useRef } from "react";

import { copyText } from "../../lib/copyText";

/** The clipboard of the desktop. */
export interface DesktopClipboard {
  read: () => Promise<string | null>;
  set: (text: string) => Promise<void>;
}

/** Presses or releases a key on the desktop. */
export type SendKey = (keysym: number, code: string, isDown: boolean) => void;

interface ClipboardOptions {
  isUsing: boolean;
  clipboard: DesktopClipboard;
  sendKey: SendKey;
}

const CONTROL: readonly [number, string] = [0xffe3, "ControlLeft"];
const V: readonly [number, string] = [0x76, "KeyV"];
/** The keys that a Mac's command key is on the desktop. They must be up while Ctrl-V is typed. */
const COMMAND = [0xffe7, 0xffeb, 0xffe9];
/** The time that a program on the desktop gets to copy. */
const COPY_AFTER_MS = 250;

/**
 * Joins the clipboard of the desktop with that of the user's own computer: what they paste while they use the screen is
 * their own text, and what they copy there can be pasted elsewhere.
 */
export function useClipboard({ isUsing, clipboard, sendKey }: ClipboardOptions) {
  const isControlHeld = useRef(false);
  const press = ([keysym, code]: readonly [number, string], isDown: boolean) =>
    sendKey(keysym, code, isDown);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Control") isControlHeld.current = true;
    const isPaste = (event.ctrlKey || event.metaKey) && !event.altKey && event.code === "KeyV";
    // The desktop gets this key after the text. Meanwhile the browser says what the text is.
    if (isUsing && isPaste) event.stopPropagation();
  };
  const onKeyUp = (event: KeyboardEvent) => {
    if (event.key === "Control") isControlHeld.current = false;
    if (!isUsing || !(event.ctrlKey || event.metaKey)) return;
    if (event.code === "KeyV") event.stopPropagation();
    if (event.code === "KeyC" || event.code === "KeyX") setTimeout(() => void copyOut(), COPY_AFTER_MS);
  };
  const copyOut = async () => {
    try {
      const text = await clipboard.read();
      if (text !== null) await copyText(text);
    } catch {
      // The dialog says why. Nobody expects a message for a key that is also used for other things.
    }
  };
  const onPaste = (event: ClipboardEvent) => {
    if (!isUsing) return;
    event.preventDefault();
    void pasteIn(event.clipboardData.getData("text/plain"));
  };
  const pasteIn = async (text: string) => {
    try {
      if (text !== "") await clipboard.set(text);
    } catch {
      return;
    }
    for (const keysym of COMMAND) sendKey(keysym, "", false);
    if (!isControlHeld.current) press(CONTROL, true);
    press(V, true);
    press(V, false);
    if (!isControlHeld.current) press(CONTROL, false);
  };
  return { onKeyDown, onKeyUp, onPaste };
}
