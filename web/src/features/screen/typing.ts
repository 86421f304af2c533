/** X11's number for Backspace. */
const BACKSPACE = 0xff08;
const SPECIAL: Readonly<Record<string, number>> = { "\n": 0xff0d, "\t": 0xff09 };

/** Returns X11's number for the key that types a character. */
function keysymOf(character: string): number {
  const point = character.codePointAt(0) ?? 0;
  return SPECIAL[character] ?? (point < 0x100 ? point : 0x1000000 + point);
}

/**
 * Returns the keys that turn one text into another, as keysyms.
 *
 * Keyboards of phones replace words while they are typed, so the text of a field is all there is to
 * go by.
 */
export function keysBetween(before: string, after: string): number[] {
  const [from, to] = [[...before], [...after]];
  let n_same = 0;
  while (n_same < from.length && from[n_same] === to[n_same]) n_same += 1;
  const removed = Array.from({ length: from.length - n_same }, () => BACKSPACE);
  return [...removed, ...to.slice(n_same).map(keysymOf)];
}
