import { observable } from "../../lib/observable";
import { readStored, writeStored } from "../../lib/stored";

interface Keys {
  mod: boolean;
  key: string;
}

function keysOf(shortcut: string): Keys {
  const mod = shortcut.startsWith("Mod+");
  return { mod, key: (mod ? shortcut.slice("Mod+".length) : shortcut).toLowerCase() };
}

export function isMac(): boolean {
  return /mac|iphone|ipad/i.test(navigator.userAgent);
}

/** Returns a shortcut's keys as they are printed on them. */
export function keyNames(shortcut: string): string[] {
  const { mod, key } = keysOf(shortcut);
  const name = key.length === 1 ? key.toUpperCase() : key;
  return mod ? [isMac() ? "⌘" : "Ctrl", name] : [name];
}

type KeyPress = Pick<KeyboardEvent, "key" | "code" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">;

export function matches(event: KeyPress, shortcut: string): boolean {
  const { mod, key } = keysOf(shortcut);
  const pressed = event.key.toLowerCase();
  if (mod) {
    const isMod = isMac() ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
    // Keyboards without Latin letters have the same keys in other words.
    const isKey = pressed === key || (!/^[ -~]$/.test(event.key) && event.code === `Key${key.toUpperCase()}`);
    return isMod && isKey && !event.altKey && !event.shiftKey;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  // Many keyboards need Shift for digits and signs.
  return pressed === key && !(event.shiftKey && /[a-z]/.test(key));
}

/** Places that use all keys themselves: terminals, editors, and the screen under control. */
const OWN_KEYS = '[data-owns-keys], .xterm, .cm-editor, [contenteditable=""], [contenteditable="true"]';
const FIELDS =
  'input, textarea, select, [role="textbox"], [role="combobox"], [role="listbox"], [role="slider"], [role="spinbutton"]';
const MODALS = '[role="dialog"], [role="alertdialog"], [role="menu"]';

/** Returns true if a shortcut may be used while the keyboard is at `target`. */
export function mayUse(shortcut: string, target: EventTarget | null): boolean {
  const { mod } = keysOf(shortcut);
  const element = target instanceof Element ? target : null;
  if (element?.closest(OWN_KEYS)) return false;
  if (!mod && (element?.closest(FIELDS) || !singleKeys.get())) return false;
  return document.querySelector(MODALS) === null;
}

const SINGLE_KEYS = "deskhand.single-keys";

/** True if shortcuts of one key are on. People who speak to their computer switch them off. */
export const singleKeys = observable(readStored(SINGLE_KEYS) !== "off");

export function setSingleKeys(isOn: boolean): void {
  writeStored(SINGLE_KEYS, isOn ? "on" : "off");
  singleKeys.set(isOn);
}
