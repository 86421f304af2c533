import { type Command, COMMAND_GROUPS } from "./command";

/** Returns how well a text matches, or 0 if its letters are not all there in this order. */
export function score(text: string, query: string): number {
  const letters = text.toLowerCase();
  const wanted = query.toLowerCase().replaceAll(/\s+/g, "");
  if (wanted === "") return 1;
  const whole = letters.replaceAll(/\s+/g, "").indexOf(wanted);
  if (whole === 0) return 1000 - letters.length;
  let points = whole > 0 ? 100 : 0;
  let at = -1;
  for (const letter of wanted) {
    const next = bestAt(letters, letter, at);
    if (next === -1) return 0;
    if (isWordStart(letters, next)) points += 12;
    else if (next === at + 1) points += 6;
    else points -= 2;
    at = next;
  }
  return Math.max(1, 100 + points - letters.length / 10);
}

/** Returns the next place of a letter: the one that continues, else a word's first letter, else any. */
function bestAt(letters: string, letter: string, after: number): number {
  if (letters[after + 1] === letter) return after + 1;
  for (let at = letters.indexOf(letter, after + 1); at !== -1; at = letters.indexOf(letter, at + 1)) {
    if (isWordStart(letters, at)) return at;
  }
  return letters.indexOf(letter, after + 1);
}

function isWordStart(letters: string, at: number): boolean {
  return at === 0 || /[^\p{L}\p{N}]/u.test(letters[at - 1] ?? "");
}

interface Found {
  command: Command;
  points: number;
}

function byRank(a: Found, b: Found): number {
  return (a.command.rank ?? 0) - (b.command.rank ?? 0);
}

function byPoints(a: Found, b: Found): number {
  return b.points - a.points;
}

export interface CommandSection {
  group: string;
  commands: readonly Command[];
}

/** Without a query, only this many sessions are shown, so that what comes after them is seen. */
const FIRST_SESSIONS = 6;

/** Returns the commands that match, best first, in their groups. */
export function findCommands(commands: readonly Command[], query: string): CommandSection[] {
  const found = commands
    .filter(({ isOnlyShortcut = false }) => !isOnlyShortcut)
    .map((command) => ({ command, points: pointsOf(command, query) }))
    .filter(({ points }) => points > 0);
  const sections = COMMAND_GROUPS.map((group) => {
    const members = found.filter(({ command }) => command.group === group);
    return { group, members: members.toSorted(query.trim() === "" ? byRank : byPoints) };
  }).filter(({ members }) => members.length > 0);
  if (query.trim() === "") {
    return sections.map(({ group, members }) => ({
      group,
      commands: members
        .slice(0, group === "Sessions" ? FIRST_SESSIONS : members.length)
        .map(({ command }) => command),
    }));
  }
  const best = ({ members }: (typeof sections)[number]) => members[0]?.points ?? 0;
  return sections
    .toSorted((a, b) => best(b) - best(a))
    .map(({ group, members }) => ({ group, commands: members.map(({ command }) => command) }));
}

function pointsOf({ title, keywords }: Command, query: string): number {
  const byWord = keywords === undefined ? 0 : score(keywords, query) / 2;
  return Math.max(score(title, query), byWord);
}
